import type { Bridge, BridgeFault, Drained, DrainOutcome, Report, StateChanges } from './bridge.ts'
import type { CallStatus, Sending } from './calls/results.ts'
import type { Clock } from './clock.ts'
import type { Configuration } from './source/configuration.ts'

const FIRST_WAIT_MS = 3_000
const MAX_WAIT_MS = 300_000

/** Outcomes after which an engine is asked again without being told to. */
const WAITS: readonly DrainOutcome[] = ['BUSY', 'OFFLINE', 'RETRY_LATER', 'CSP_BLOCKED']

export type Outbox = ReturnType<typeof newOutbox>

/**
 * Brings rows to the engine, all of one turn in one call, and says when it is time to send.
 *
 * A drain begins at once with a full batch; else when the oldest event and the last drain are both `sleepTimeout` ago; when
 * the wait that the engine named is over; and when it is asked for.
 *
 * @see contracts/cordova-sdk.md §14
 */
export function newOutbox(
  bridge: Bridge,
  clock: Clock,
  { flushQueueSize, sleepTimeout }: Configuration,
  onReport: (report: Report) => void,
  onFault: (error: unknown) => void,
) {
  const sleepTimeoutMs = sleepTimeout * 1000
  let queued = 0
  let sending: Sending = 'idle'
  let rows: { body: string }[] = []
  let changes: Record<string, string | null> = {}
  /** Of the calls that have added to `rows` and `changes`: the push that carries them, once it has begun. */
  let turn: { pushed?: Promise<CallStatus> } = {}
  let cancelTimer: (() => void) | undefined
  let isPaused = false
  /** Drains in a row that have thrown. */
  let faults = 0

  /**
   * New rows are offered while stopped as well: the engine answers at once if it is, and goes on if only the events of a
   * former write key were refused.
   */
  const schedule = (mayBeAtOnce = true) => {
    if (isPaused || !queued || (sending !== 'idle' && sending !== 'stopped')) return
    if (queued >= flushQueueSize && sending === 'idle' && mayBeAtOnce) drainByItself()
    // The wait begins here: with the oldest event of the partial batch, or with the end of the drain that left it.
    else if (!cancelTimer) setTimer(sleepTimeoutMs)
  }

  const setTimer = (delayMs: number) => {
    if (!isPaused) cancelTimer = clock.after(delayMs, drainByItself)
  }

  const stopTimer = () => {
    if (cancelTimer) cancelTimer()
    cancelTimer = undefined
  }

  const drainByItself = () => void drain(false)

  const commit = (): Promise<CallStatus> => {
    const its = turn
    turn = {}
    its.pushed = pushAll()
    return its.pushed
  }

  const pushAll = async (): Promise<CallStatus> => {
    const push = { rows, state: changes }
    if (!rows.length && !Object.keys(changes).length) return 'stored'
    rows = []
    changes = {}
    const pushed = await bridge.push(push).catch((error: unknown) => {
      // The events are lost; who the user is, is not. What an engine cannot read would spoil every later push.
      if ((error as Partial<BridgeFault>).code !== 'BAD_ARGUMENT') changes = Object.assign(push.state, changes)
      throw error
    })
    queued = pushed.queued
    onReport(pushed.report)
    schedule()
    return pushed.inMemory ? 'memory' : 'stored'
  }

  /** @returns undefined when the engine has thrown, which it should not; it is asked again, later each time. */
  const drain = async (force: boolean): Promise<Drained | undefined> => {
    stopTimer()
    sending = 'active'
    try {
      const drained = await bridge.drain({ force })
      heard(drained)
      faults = 0
      return drained
    } catch (error) {
      onFault(error)
      sending = isPaused ? 'stopped' : 'waiting'
      setTimer(Math.min(FIRST_WAIT_MS * 2 ** faults++, MAX_WAIT_MS))
    }
  }

  const heard = ({ sent, remaining, outcome, retryAfterMs, report }: Drained) => {
    queued = remaining
    onReport(report)
    stopTimer()
    sending = outcome === 'EMPTY' ? 'idle' : WAITS.includes(outcome) ? 'waiting' : 'stopped'
    if (sending === 'waiting') setTimer(retryAfterMs || sleepTimeoutMs)
    // What a drain leaves without having sent anything is not for us to send: it would never end.
    else if (sending === 'idle') schedule(sent > 0)
  }

  return {
    queued: () => queued,
    sending: () => sending,

    /** As the engine tells at its opening. */
    count(rowsThere: number) {
      queued = rowsThere
    },

    /** @returns how it is kept, once the push that carries it is answered. */
    add(some: StateChanges, body?: string): Promise<CallStatus> {
      if (body) rows.push({ body })
      Object.assign(changes, some)
      // A microtask: a page that is being left runs them still, and no timer.
      const its = turn
      return Promise.resolve().then(() => its.pushed || commit())
    },

    /** Hands over what has been added so far; what is called on the bridge afterwards comes after it. */
    commit,

    /** Sends now. @param force skips the random part of a wait. */
    drain,

    /** A drain has ended, ours or one that the engine began. */
    heard,

    /** The reason for a stop is gone, or an earlier run left something. */
    resume() {
      isPaused = false
      if (sending === 'stopped') sending = 'idle'
      schedule()
    },

    pause() {
      isPaused = true
      sending = 'stopped'
      stopTimer()
    },
  }
}
