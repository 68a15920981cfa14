import type {
  Bridge,
  ContextFacts,
  Drained,
  DrainOutcome,
  EngineSettings,
  Signal,
  StateChanges,
  Tracking,
} from '../core/bridge.ts'
import { eventText } from '../core/text/event-text.ts'
import { parsedObject } from '../core/text/parsed-json.ts'
import { batchBytes, batchText, ENVELOPE_BYTES, PER_EVENT_BYTES, rowOf } from './batch.ts'
import { newDiagnostics } from './diagnostics.ts'
import type { StoredRow } from './event-database.ts'
import { inTurn, newEventStore, type OpenDatabase } from './event-store.ts'
import { newExitCopy } from './exit-copy.ts'
import { type GuardText, newGuard } from './guard.ts'
import { type Fetch, newHttp } from './http.ts'
import { judged, retryAfterMs } from './judge.ts'
import { type End, newSender, type SenderPage } from './sender.ts'
import { fetchSourceConfig } from './source-config.ts'
import { newWait } from './wait.ts'

/** What the engine is given of the page. */
export interface WebEngineOptions extends SenderPage {
  readonly openDatabase: OpenDatabase
  readonly guardText: GuardText
  readonly fetch: Fetch
  readonly random: () => number
  readonly nextId: () => string
  /** One holder over all tabs. Absent without Web Locks: each tab then sends its own rows. */
  readonly locks?: TabLocks | undefined
  /** Other tabs of this app. */
  readonly tabs?: Tabs | undefined
  readonly context: () => ContextFacts
  readonly isForeground: () => boolean
  /** Of the Cordova platform, for the source configuration. */
  readonly platformVersion?: string | undefined
}

export interface TabLocks {
  /** Runs the work under a lock. @param waitMs how long to wait for it, 0: not at all. @returns undefined without it. */
  hold<T>(lock: 'drain' | 'start', waitMs: number, work: () => Promise<T>): Promise<T | undefined>
}

/** What a tab tells the others: values that it changed, ids of rows that are not to be sent any more, or that it has purged all. */
export type Told = StateChanges | number[] | 'purged'

export interface Tabs {
  tell(told: Told): void
  onTold(hear: (told: Told) => void): void
}

const LOCK_WAIT_MS = 30_000
const START_MS = 1_000

/** The engine of a page, and what the page tells it. */
export interface WebEngine extends Bridge {
  listen(hear: (signal: Signal) => void): void
  /** The rows there are, oldest first, until the visitor answers false. */
  visit(visitor: (row: StoredRow) => boolean): Promise<void>
  /** The page came to the foreground. */
  entered(): void
  /** It is hidden or left: everything that cannot wait happens before this returns. */
  left(): Promise<void>
  /** A line for the console. */
  tell(level: number, text: string): void
  /** The network, or a fact of `context`, changed. */
  changed(isOnline: boolean): void
}

/** IndexedDB, fetch, page signals. @see BRIDGE.md */
export function webEngine(options: WebEngineOptions): WebEngine {
  const { openDatabase, guardText, fetch, clock, random, nextId, locks, tabs } = options
  const { context, isForeground, platformVersion } = options
  let settings: EngineSettings | undefined
  let tracking: Tracking = 'enabled'
  let tail: string | null = null
  let hear: (signal: Signal) => void = () => {}
  /** Rows up to here were there when this tab started: with those it wrote, its share without Web Locks. */
  let foundUpTo = 0
  let started = () => {}

  const tell = (level: number, text: string) => hear({ t: 'log', level, text })
  const exit = newExitCopy()
  const diagnostics = newDiagnostics(clock, tell)
  const store = newEventStore(openDatabase, diagnostics, (ids, inDatabase) => {
    exit.forget(ids)
    if (tabs) tabs.tell(inDatabase)
  })
  const guard = newGuard(guardText, () => diagnostics.storageFailed('STORAGE_IO', 'localStorage'))
  const http = newHttp(fetch, clock)
  const wait = newWait(clock, random)
  const drains = inTurn()

  /** Why nothing may be sent, if so. */
  const barred = (): DrainOutcome | undefined => {
    if (tracking !== 'enabled') return tracking === 'disabled' ? 'OPTED_OUT' : 'AWAITING_CONSENT'
    if (parsedObject(store.kept('source'))['enabled'] === false) return 'SOURCE_DISABLED'
    return settings!.dataPlaneUrl ? sender.stoppedFor() : 'NO_DATA_PLANE_URL'
  }

  const mayTake = ({ id }: StoredRow) => !exit.isUnderWay(id) && (!!locks || id <= foundUpTo || exit.isOwn(id))
  const sender = newSender(options, store, diagnostics, http, wait, tell, () => settings!, barred, mayTake, exit)

  /** What values mean for sending. */
  const follow = ({ tracking: now, source }: StateChanges) => {
    if (now) tracking = now as Tracking
    if (now === 'disabled') {
      tail = null
      http.abort()
    }
    if (parsedObject(source)['enabled'] === true) sender.resume()
  }

  /** What others have to know of changes: the guard, and the other tabs. @returns whether the guard holds them. */
  const share = (changes: StateChanges): boolean => {
    if (tabs && Object.keys(changes).length) tabs.tell(changes)
    return guard.put(changes)
  }

  const commit = async (bodies: readonly string[], values: StateChanges): Promise<boolean> => {
    const { writeKey, dbThresholdCount } = settings!
    const rows = bodies.map((body) => rowOf(writeKey, body))
    const copied = exit.add(rows)
    const { ids, firstAt, inMemory } = await store.commit(rows, values, dbThresholdCount)
    exit.committed(copied, ids, firstAt)
    share(values)
    return inMemory
  }

  const drainNow = async (force: boolean): Promise<Drained> => {
    const outcome = barred() || (store.rowCount() || locks ? undefined : 'EMPTY')
    const early: End | undefined = outcome ? { outcome } : wait.left(force)
    const end: End & { sent?: number } = early || (await underLock(force))
    await store.recount()
    await exit.refill(store.visit)
    const remaining = tracking === 'awaiting-consent' ? 0 : store.rowCount()
    return { sent: 0, remaining, report: store.report(), ...end }
  }

  const underLock = async (force: boolean): Promise<End & { sent?: number }> => {
    const end = locks ? await locks.hold('drain', force ? LOCK_WAIT_MS : 0, sender.drain) : await sender.drain()
    return end || { outcome: 'BUSY' }
  }

  /** The last batch, from memory and plain: nothing may be awaited before it is under way. */
  const sendExitBatch = async (): Promise<void> => {
    if (!settings || barred() || wait.left(true)) return
    const { flushQueueSize, writeKey } = settings
    let bytes = ENVELOPE_BYTES
    const rows = exit.take(({ size }, { length }) => {
      bytes += size + PER_EVENT_BYTES
      return length < flushQueueSize && bytes <= http.keepaliveLeft()
    })
    if (!rows.length) return
    const attempt = exit.wasTried(rows) ? 'repeat' : 'exit'
    const answer = await sender.post(writeKey, batchText(rows, attempt, clock.now()), batchBytes(rows), 0)
    // Rows that are committed only now have an id from here on.
    await store.recount()
    const verdict = answer && judged(answer)
    if (verdict === 'accepted') {
      wait.succeeded()
      await store.remove(rows.map((row) => row.id!).filter(Boolean))
    }
    exit.release(rows)
    // Everything else is found out by the drain that follows, unless the server has asked to be left alone.
    if (verdict === 'later') wait.failed('RETRY_LATER', retryAfterMs(answer!, clock.now()))
  }

  /**
   * Tabs that are opened together start one after another, so that the second finds the session of the first. Each lets the next
   * one go with its first rows.
   */
  const startAlone = async (): Promise<void> => {
    if (!locks) return
    await new Promise<unknown>((resolve) => {
      const untilStarted = () =>
        new Promise<void>((ended) => {
          started = ended
          clock.after(START_MS, ended)
          resolve(0)
        })
      locks.hold('start', START_MS, untilStarted).then(resolve, diagnostics.fault)
    })
  }

  if (tabs) {
    tabs.onTold((told) => {
      if (told === 'purged') {
        exit.clear()
        return void store.purge(false)
      }
      if (Array.isArray(told)) return exit.forget(told)
      store.adopt(told)
      follow(told)
      hear({ t: 'changed', state: told })
    })
  }

  return {
    listen(listener) {
      hear = listener
      hear({ t: 'hello' })
    },

    async open(given) {
      await startAlone()
      await store.load()
      await store.recount()
      settings = given
      const { tracking: guarded, anonymousId, marker } = guard.read()
      const known = [guarded, store.kept('tracking')]
      const isAllowed = known.includes('enabled') || !given.requireConsent
      tracking = known.includes('disabled') ? 'disabled' : isAllowed ? 'enabled' : 'awaiting-consent'
      const isReadable = tracking !== 'awaiting-consent'
      // An anonymousId that was lost with the database.
      if (isReadable && anonymousId !== undefined && store.kept('anonymousId') === undefined) {
        await store.commit([], { anonymousId })
      }
      if (!locks && !foundUpTo) {
        await store.visit(({ id }) => {
          foundUpTo = id
          return true
        })
      }
      const report = store.report()
      return {
        storage: report.storage,
        tracking,
        state: isReadable ? store.state() : undefined,
        launch: { foreground: isForeground(), marker: parsedObject(marker || store.kept('marker'), null) },
        context: context(),
        queued: isReadable ? store.rowCount() : 0,
        report,
      }
    },

    async push({ rows, state }) {
      const inMemory = await commit(
        rows.map((row) => row.body),
        state,
      )
      started()
      return { queued: store.rowCount(), inMemory, report: store.report() }
    },

    async state(values) {
      follow(values)
      const isGuarded = share(values)
      await store.load()
      const { inMemory } = await store.commit([], values)
      // In one of the two places an opt-out holds; the end of one does not.
      return { inMemory: inMemory === isGuarded ? values['tracking'] === 'enabled' : inMemory }
    },

    async tail(text) {
      tail = text
      return null
    },

    drain: (how) => drains(() => drainNow(how.force)),

    async purge() {
      await store.load()
      exit.clear()
      await store.purge(true)
      // Afterwards: what another tab wrote until then is gone as well.
      if (tabs) tabs.tell('purged')
      return null
    },

    config: async (known) => fetchSourceConfig(http, settings!, platformVersion, known.etag),

    /** A page has none; the app may give one. */
    advertId: async () => ({}),

    visit: store.visit,

    entered: () => hear({ t: 'start', context: context() }),

    left() {
      const text = tail
      tail = null
      const stored = text !== null && tracking === 'enabled'
      const writing = stored && commit([eventText(nextId(), clock.now(), text)], {})
      const exiting = sendExitBatch()
      hear({ t: 'stop', stored })
      return drains(async () => {
        await Promise.all([writing, exiting])
        if (settings) hear({ t: 'drained', ...(await drainNow(false)) })
      }).catch(diagnostics.fault)
    },

    tell,

    changed: (online) => hear({ t: 'network', online, context: context() }),
  }
}
