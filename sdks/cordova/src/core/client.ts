import type { Bridge, FlushReason, Opened, Signal, StateChanges, Tracking } from './bridge.ts'
import { type CallOptions, type Corrected, readOptions } from './calls/arguments.ts'
import { type Call, type EventCall, isEvent, isPut, type StateCall } from './calls/call.ts'
import { newDeferredCalls } from './calls/deferred-calls.ts'
import type { CallResult, CallStatus, FlushResult, InitResult, Status } from './calls/results.ts'
import { dropped, ServiceClientError } from './calls/results.ts'
import { passed } from './clock.ts'
import { newDiagnostics, textOfError } from './diagnostics.ts'
import type { Host } from './host.ts'
import { identityTexts, NO_IDENTITY } from './identity.ts'
import { type LifecycleWatch, watchLifecycle } from './lifecycle-watch.ts'
import { ALWAYS, DEBUG, ERROR, WARN } from './log.ts'
import { newOutbox, type Outbox } from './outbox.ts'
import { newRecorder, type Recorder } from './recorder.ts'
import { watchScreens } from './screens.ts'
import { type Configuration, engineSettings, readConfiguration, readWriteKey } from './source/configuration.ts'
import { type Connection, connect } from './source/connection.ts'
import { type SourceCopy, type SourceWatch, watchSource } from './source/source-watch.ts'
import { newTailKeeper } from './tail-keeper.ts'
import { SDK_VERSION } from './version.ts'

const ADVERT_ID_MS = 500
/** After it flush() answers, although the drain may go on. */
const FLUSH_MS = 29_000

/**
 * The client behind the methods: what a call does depends on whether `initialize` has settled and whether tracking is
 * allowed. Calls come in read and checked (methods.ts).
 *
 * Live: ready, and tracking is enabled. Calls become rows at once. Before, and while awaiting consent, they are deferred, in
 * their order; while disabled, events are dropped and put… values held.
 *
 * @see contracts/cordova-sdk.md §2.2, §7.4
 */
export function newClient(host: Host) {
  const { clock } = host
  const diagnostics = newDiagnostics(host)
  const { log } = diagnostics
  const deferred = newDeferredCalls()
  const heldPuts = new Map<string, StateCall>()
  let state: Status['state'] = 'idle'
  let tracking: Tracking = 'enabled'
  /** By an optOut before ready: it holds from then on, whatever the store says. */
  let choice: 'enabled' | 'disabled' | undefined
  let initialization: { readonly key: unknown; readonly result?: Promise<InitResult> } | undefined
  let connection: Promise<Connection> | undefined
  let bridge: Bridge
  let configuration: Configuration
  let recorder: Recorder
  let outbox: Outbox
  let watch: SourceWatch
  let lifecycle: LifecycleWatch
  /** The store is open, and there are the parts above. */
  let isOpen = false
  /** Identity and session have been read; not so while awaiting consent. */
  let isLoaded = false
  /** The change that makes the client live, until it has done so or another change has come. */
  let goingLive: object | undefined

  const tail = newTailKeeper(
    () => (isLive() && watch.isEnabled() && lifecycle.wantsTail() ? recorder.tail() : null),
    (text) => send(bridge.tail(text)),
  )

  // ── initialize ─────────────────────────────────────────────────────────────────────────────────────────────────────

  const start = async (given: Configuration, options: CallOptions): Promise<InitResult> => {
    const { warnings, factories, app } = given
    configuration = given
    if (factories) log(DEBUG, 'factories are not used')
    const { isNativeMissing, bridge: chosenBridge } = await connected()
    bridge = chosenBridge
    const told = isNativeMissing ? [...warnings, 'NATIVE_BRIDGE_MISSING'] : [...warnings]
    for (const warning of told) log(warning === 'NO_DATA_PLANE_URL' ? ALWAYS : WARN, warning)

    const opened = await bridge.open(engineSettings(given))
    const { launch, context } = opened
    diagnostics.heard(opened.report)
    recorder = newRecorder(host, given, options, (what) => log(WARN, what))
    recorder.context.learn({ facts: context, app, page: host.page() })
    outbox = newOutbox(bridge, clock, given, diagnostics.heard, diagnostics.fault)
    watch = watchSource(bridge, clock, given, heardSource, diagnostics.rejected, diagnostics.fault)
    lifecycle = watchLifecycle(given, launch, clock)
    isOpen = true
    const chosen = choice
    tracking = chosen || opened.tracking
    load(opened)
    if (tracking === 'enabled') await goLive()
    else await stayQuiet(chosen === 'disabled')
    state = 'ready'
    // Between the last steps of goLive or stayQuiet and here calls are still deferred.
    if (isLive()) recordAll()
    else if (allowed() === 'disabled') holdAll()
    const late = choice
    choice = undefined
    if (late) await set(late, true)
    beginWork()
    watchScreens(host, given, emit, diagnostics.fault)
    return { storage: opened.storage, tracking, warnings: told }
  }

  const load = ({ state: stored, queued }: Opened) => {
    if (!stored) return
    isLoaded = true
    outbox.count(queued)
    recorder.load(stored)
    watch.load(stored['source'])
    diagnostics.load(stored['counters'])
  }

  /** Tracking is allowed: what was held becomes rows, in one transaction. @see contracts/cordova-sdk.md §2.2 steps 5–7 */
  const goLive = async (): Promise<void> => {
    const its = goingLive
    if (!isLoaded) load(await bridge.open(engineSettings(configuration)))
    if (its !== goingLive) return
    deferred.addAfterLeading([...heldPuts.values()])
    heldPuts.clear()
    for (const call of deferred.takeLeading()) send(outbox.add(recorder.applied(call as StateCall, true)))
    send(outbox.add(recorder.begin()))
    if (configuration.autoCollectAdvertId) await collectAdvertId()
    const events = becomeReady()
    if (its !== goingLive || allowed() !== 'enabled') return
    deferred.addAfterLeading(events)
    recordAll()
    await outbox.commit()
  }

  /** Initialised without permission. Lifecycle events are held while awaiting consent, and dropped while disabled. */
  const stayQuiet = async (isPurgeDue: boolean): Promise<void> => {
    const events = becomeReady()
    if (tracking === 'awaiting-consent') return deferred.addAfterLeading(events)
    holdAll()
    await bridge.state({ marker: lifecycle.marker })
    if (isPurgeDue) await purge()
  }

  /** While disabled there are no events: reset takes effect, and what was put waits. */
  const holdAll = () => {
    deferred.discardEvents()
    for (const call of deferred.takeAll() as StateCall[]) {
      if (isPut(call)) heldPuts.set(call.kind, call)
      else send(outbox.add(recorder.applied(call, false)))
    }
  }

  const beginWork = () => {
    if (tracking !== 'enabled') return outbox.pause()
    outbox.resume()
    watch.begin()
    tail.renew()
  }

  const collectAdvertId = (): Promise<unknown> => {
    const collected = bridge.advertId().then((facts) => {
      if (allowed() === 'enabled') recorder.context.learn({ advertising: facts })
    })
    return Promise.race([collected.catch(diagnostics.fault), passed(clock, ADVERT_ID_MS)])
  }

  const connected = (): Promise<Connection> => {
    connection =
      connection ||
      connect(host, hear).catch((error: unknown) => {
        connection = undefined
        throw error
      })
    return connection
  }

  // ── tracking ───────────────────────────────────────────────────────────────────────────────────────────────────────

  const allowed = (): Tracking => choice || tracking
  const isLive = () => state === 'ready' && tracking === 'enabled' && !goingLive
  const isDisabled = () => state === 'ready' && tracking === 'disabled'

  /** After ready. */
  const set = async (now: 'enabled' | 'disabled', writes: boolean): Promise<CallStatus> => {
    const before = tracking
    const its = {}
    tracking = now
    if (now === 'disabled') {
      goingLive = undefined
      send(outbox.commit())
      outbox.pause()
      watch.stop()
      deferred.takeAll()
      recorder.context.learn({ advertising: {} })
      tail.renew()
      if (!writes) return 'stored'
      // Both at once: what is recorded after another optOut(false) is not purged.
      const [status] = await Promise.all([keep({ tracking: now, marker: lifecycle.marker }), purge()])
      return status
    }
    const keeping = writes ? keep({ tracking: now }) : 'stored'
    if (before === now) return keeping
    goingLive = its
    let reached: Tracking = before
    try {
      await keeping
      if (goingLive === its) await goLive()
      reached = now
    } finally {
      if (goingLive === its) {
        goingLive = undefined
        tracking = reached
      }
    }
    if (isLive()) {
      recordAll()
      beginWork()
    }
    return keeping
  }

  /** @param writes false when another tab has written it. @returns how it is kept. */
  const choose = async (now: 'enabled' | 'disabled', writes: boolean): Promise<CallStatus> => {
    if (state === 'ready') return set(now, writes)
    choice = now
    if (now === 'disabled') deferred.discardEvents()
    return writes ? write({ tracking: now }) : 'stored'
  }

  /** As far as optOutQueue wants it. */
  const purge = async (): Promise<void> => {
    if (configuration.optOutQueue !== 'purge') return
    recorder.forgetToken()
    heldPuts.delete('deviceToken')
    await bridge.purge('events')
    // A push, because its answer tells how many there were.
    await outbox.add({ deviceToken: null })
  }

  // ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Logs corrections of arguments, with the name of the method. */
  const corrected =
    (method: string, level = WARN): Corrected =>
    (what) =>
      log(level, `${method}: ${what}`)

  /** Counts a call that was not recorded, for `getStatus`. */
  const count = (what: 'tooLarge' | 'invalid' | 'buffer') => {
    const counters = diagnostics.count(what)
    if (isLive()) send(outbox.add({ counters }))
  }

  const defer = async (call: Call): Promise<CallResult> => {
    if (deferred.add(call)) return { status: 'deferred' }
    count('buffer')
    return dropped('BUFFER_FULL')
  }

  const record = async (call: EventCall): Promise<CallResult> => {
    if (!watch.isEnabled()) return dropped('SOURCE_DISABLED')
    const { body, changes, messageId } = recorder.record(call)
    tail.renew()
    if (!body) {
      send(outbox.add(changes))
      count('tooLarge')
      return dropped('TOO_LARGE')
    }
    return { status: await outbox.add(changes, body), messageId }
  }

  const applyState = async (call: StateCall): Promise<CallResult> => {
    const changes = recorder.applied(call, tracking === 'enabled')
    tail.renew()
    return { status: await outbox.add(changes) }
  }

  const recordAll = () => {
    for (const call of deferred.takeAll()) send(isEvent(call) ? record(call) : applyState(call))
  }

  const event = async (call: EventCall): Promise<CallResult> => {
    if (allowed() === 'disabled') return dropped('OPTED_OUT')
    return isLive() ? record(call) : defer(call)
  }

  const emit = (events: readonly EventCall[]) => {
    for (const each of events) send(event(each))
  }

  const becomeReady = (): EventCall[] => {
    const { isWanted, marker } = lifecycle
    // Without an event that carries it.
    if (!isWanted && allowed() !== 'awaiting-consent') send(bridge.state({ marker }))
    return lifecycle.ready()
  }

  // ── what the engine tells ──────────────────────────────────────────────────────────────────────────────────────────

  const hear = (signal: Signal) => {
    const { t } = signal
    if (t === 'log') log(signal.level, signal.text)
    if (!isOpen) return
    if (t === 'start' || t === 'network') {
      recorder.context.learn({ facts: signal.context || {}, page: host.page() })
    }
    if (t === 'start') {
      emit(lifecycle.entered(signal.url))
      tail.renew()
    }
    if (t === 'stop') {
      tail.used()
      const events = lifecycle.left()
      if (!signal.stored) emit(events)
    }
    if (t === 'network' && signal.online && outbox.sending() === 'waiting') send(outbox.drain(true))
    if (t === 'drained') outbox.heard(signal)
    if (t === 'changed') {
      const now = signal.state['tracking'] as 'enabled' | undefined
      if (now && now !== allowed()) send(choose(now, false))
      if (isLoaded) recorder.adopt(signal.state)
    }
  }

  const heardSource = (copy: SourceCopy) => {
    send(bridge.state({ source: JSON.stringify(copy) }))
    if (copy.enabled) outbox.resume()
    else log(WARN, 'SOURCE_DISABLED')
    tail.renew()
  }

  /** @returns how they are kept. */
  const keep = async (changes: StateChanges): Promise<CallStatus> =>
    (await bridge.state(changes)).inMemory ? 'memory' : 'stored'

  /** Before ready. @returns how they are kept: in memory when there is no engine to write them. */
  const write = async (changes: StateChanges): Promise<CallStatus> => {
    try {
      bridge = (await connected()).bridge
      return await keep(changes)
    } catch (error) {
      diagnostics.fault(error)
      return 'memory'
    }
  }

  /** For what nobody waits for: an engine rejects only what should not happen. */
  const send = (work: Promise<unknown>) => {
    work.catch(diagnostics.fault)
  }

  return {
    corrected,
    count,
    event,

    /** The engine has refused to take a call. */
    notRecorded(error: unknown): CallResult | Promise<CallResult> {
      diagnostics.fault(error)
      const { code } = error as { code?: unknown }
      return code === 'QUEUE_FULL' ? dropped(code) : { status: 'dropped' }
    },

    /** @throws ServiceClientError as a rejection; one that nobody looks at raises nothing. */
    initialize(writeKey: unknown, given: unknown, givenOptions: unknown): Promise<InitResult> {
      // As far as its first wait this is done at once: the second of two calls finds what the first has begun.
      const begin = async (): Promise<InitResult> => {
        const key = readWriteKey(writeKey)
        if (initialization) throw new ServiceClientError('ALREADY_INITIALIZED', 'another key')
        const configuration = readConfiguration(key, given)
        diagnostics.setLevel(configuration.logLevel)
        const options = readOptions(givenOptions, corrected('initialize'), corrected('initialize', ERROR))
        state = 'initializing'
        initialization = mine
        try {
          return await start(configuration, options)
        } catch (error) {
          initialization = undefined
          throw error
        }
      }
      const mine: { key: unknown; result?: Promise<InitResult> } = { key: writeKey }
      if (initialization?.result && initialization.key === writeKey) {
        log(WARN, 'ALREADY_INITIALIZED')
        return initialization.result
      }
      const result = begin().catch((error: unknown) => {
        if (!initialization) state = 'failed'
        throw asClientError(error)
      })
      result.catch((error: ServiceClientError) => log(ERROR, error.message))
      mine.result = result
      return result
    },

    async put(call: StateCall): Promise<CallResult> {
      if (isLive()) return applyState(call)
      if (!isDisabled()) return defer(call)
      heldPuts.set(call.kind, call)
      return { status: 'deferred' }
    },

    async reset(call: StateCall & { readonly kind: 'reset' }): Promise<CallResult> {
      if (isLive() || isDisabled()) return applyState(call)
      if (!call.renews) return defer(call)
      // What may not be used yet is erased at once; the new id has to wait its turn.
      deferred.discardIdentifiers()
      if (isOpen) recorder.load({})
      const result = defer(call)
      await write({ session: null, ...identityTexts(NO_IDENTITY) })
      return result
    },

    async optOut(isOptOut: boolean): Promise<CallResult> {
      return { status: await choose(isOptOut ? 'disabled' : 'enabled', true) }
    },

    async flush(): Promise<FlushResult> {
      const not = (reason: FlushReason, remaining = 0) => ({ ok: false, sent: 0, remaining, reason })
      if (state !== 'ready') return not('NOT_INITIALIZED')
      if (tracking === 'awaiting-consent') return not('AWAITING_CONSENT')
      if (tracking === 'disabled') return not('OPTED_OUT', outbox.queued())
      const { refused } = diagnostics.status().dropped
      const pushed = outbox.commit().catch(diagnostics.fault)
      const drained = await Promise.race([outbox.drain(true), passed(clock, FLUSH_MS)])
      if (!drained) return not('RETRY_LATER', outbox.queued())
      await pushed
      const { sent, remaining, outcome, report: after } = drained
      if (outcome === 'EMPTY') return { ok: after.dropped.refused === refused, sent, remaining }
      return { ok: false, sent, remaining, reason: outcome === 'BUSY' ? 'RETRY_LATER' : outcome }
    },

    status(): Status {
      const status = {
        ...diagnostics.status(),
        state,
        tracking: allowed(),
        queued: isOpen ? outbox.queued() : 0,
        sending: isOpen ? outbox.sending() : 'idle',
        config: isOpen ? watch.status() : { source: 'none' },
        sdkVersion: SDK_VERSION,
      }
      // Without the members that are undefined.
      return JSON.parse(JSON.stringify(status))
    },
  }
}

function asClientError(error: unknown): ServiceClientError {
  return error instanceof ServiceClientError ? error : new ServiceClientError('INTERNAL', textOfError(error))
}
