import { type CallOptions, readOptions } from './arguments.ts'
import type { LastError, Opened, Report, Signal, StateChanges, Tracking } from './bridge.ts'
import { type Call, type EventCall, isEvent, isPut, type StateCall } from './call.ts'
import { type Configuration, readConfiguration, readWriteKey } from './configuration.ts'
import { type Connection, connect } from './connection.ts'
import { DeferredCalls } from './deferred-calls.ts'
import type { Host, Route } from './host.ts'
import { ERASED } from './identity.ts'
import { markerText } from './lifecycle.ts'
import { ALWAYS, DEBUG, ERROR, Log, WARN } from './log.ts'
import { assemble, engineSettings, type Open } from './opening.ts'
import { parsedObject } from './parsed-json.ts'
import type { CallResult, DropReason, FlushResult, InitResult, Status } from './results.ts'
import { ServiceClientError } from './results.ts'
import { isScreenWanted, screenProperties } from './screens.ts'
import { type SourceCopy, sourceCopyFrom } from './source-watch.ts'
import { TailKeeper } from './tail-keeper.ts'
import { SDK_VERSION } from './version.ts'

const ADVERT_ID_MS = 500
const TRIM_WARNING_MS = 60_000

/**
 * The client behind the methods: what a call does depends on whether `initialize` has settled and whether tracking is
 * allowed. Calls come in read and checked (methods.ts).
 *
 * Live: ready, and tracking is enabled. Calls become rows at once. Before, and while awaiting consent, they are deferred, in
 * their order; while disabled, events are dropped and put… values held.
 *
 * @see contracts/cordova-sdk.md §2.2, §7.4
 */
export class Client {
  readonly log: Log
  private readonly host: Host
  private readonly deferred = new DeferredCalls()
  private readonly counters = { tooLarge: 0, invalid: 0, buffer: 0 }
  private readonly heldPuts = new Map<string, StateCall>()
  private state: Status['state'] = 'idle'
  private tracking: Tracking = 'enabled'
  /** By an optOut before ready: it holds from then on, whatever the store says. */
  private choice: 'enabled' | 'disabled' | undefined
  private initialization: { readonly writeKey: string; readonly result: Promise<InitResult> } | undefined
  private connection: Promise<Connection> | undefined
  private open: Open | undefined
  /** Identity and session have been read; not so while awaiting consent. */
  private isLoaded = false
  private isGoingLive = false
  private readonly tail: TailKeeper
  private report: Report | undefined
  private trimWarningFrom = Number.NEGATIVE_INFINITY
  private lastError: LastError | undefined
  private configSource: Status['config']['source'] = 'none'
  private lastScreen: string | undefined

  constructor(host: Host) {
    this.host = host
    this.log = new Log((level, line) => host.print(level, line))
    this.tail = new TailKeeper(
      () => this.tailNow(),
      (tail) => this.send(this.open!.bridge.tail(tail)),
    )
  }

  // ── methods ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** @throws ServiceClientError as a rejection; one that nobody looks at raises nothing. */
  initialize(writeKey: unknown, given: unknown, givenOptions: unknown): Promise<InitResult> {
    let result: Promise<InitResult>
    try {
      const key = readWriteKey(writeKey)
      const earlier = this.initialization
      if (earlier?.writeKey === key) {
        this.log.write(WARN, 'initialize was called again; the first call counts')
        return earlier.result
      }
      if (earlier) {
        throw new ServiceClientError('ALREADY_INITIALIZED', 'the client runs with another write key')
      }
      const configuration = readConfiguration(key, given)
      this.log.level = configuration.logLevel
      const options = readOptions(givenOptions, (what) => this.log.write(WARN, `initialize: ${what}`))
      this.state = 'initializing'
      result = this.start(configuration, options).catch((error: unknown) => {
        this.state = 'failed'
        this.initialization = undefined
        throw error instanceof ServiceClientError ? error : new ServiceClientError('INTERNAL', textOfError(error))
      })
      this.initialization = { writeKey: key, result }
    } catch (error) {
      if (!this.initialization) this.state = 'failed'
      result = Promise.reject(error)
    }
    result.catch((error: ServiceClientError) => this.log.write(ERROR, error.message))
    return result
  }

  event(call: EventCall): Promise<CallResult> {
    if (this.allowed() === 'disabled') return dropped('OPTED_OUT')
    return this.isLive() ? this.record(call) : this.defer(call)
  }

  put(call: StateCall): Promise<CallResult> {
    if (this.isLive()) return this.applyState(call)
    if (!this.isDisabled()) return this.defer(call)
    this.heldPuts.set(call.kind, call)
    return Promise.resolve<CallResult>({ status: 'deferred' })
  }

  reset(call: StateCall & { readonly kind: 'reset' }): Promise<CallResult> {
    if (this.isLive() || this.isDisabled()) return this.applyState(call)
    if (!call.renews) return this.defer(call)
    // What may not be used yet is erased at once; the new id has to wait its turn.
    this.deferred.discardIdentifiers()
    this.open?.recorder.load({})
    const result = this.defer(call)
    return this.write({ ...ERASED, session: null }).then(() => result)
  }

  async optOut(isOptOut: boolean): Promise<CallResult> {
    const tracking = isOptOut ? 'disabled' : 'enabled'
    if (this.state === 'ready') {
      await (isOptOut ? this.disable(true) : this.enable(true))
      return { status: 'stored' }
    }
    this.choice = tracking
    if (isOptOut) this.deferred.discardEvents()
    return { status: (await this.write({ tracking })) ? 'stored' : 'memory' }
  }

  async flush(): Promise<FlushResult> {
    const { open } = this
    const nothing = { ok: false, sent: 0 }
    if (this.state !== 'ready' || !open) return { ...nothing, remaining: 0, reason: 'NOT_INITIALIZED' }
    if (this.tracking === 'awaiting-consent') return { ...nothing, remaining: 0, reason: 'AWAITING_CONSENT' }
    if (this.tracking === 'disabled') return { ...nothing, remaining: open.outbox.queued, reason: 'OPTED_OUT' }
    const refusedBefore = this.report?.dropped.refused
    const pushed = open.outbox.commit()
    const { sent, remaining, outcome, report } = await open.outbox.drain(true)
    await pushed
    if (outcome === 'EMPTY') return { ok: report.dropped.refused === refusedBefore, sent, remaining }
    return { ok: false, sent, remaining, reason: outcome === 'BUSY' ? 'RETRY_LATER' : outcome }
  }

  status(): Status {
    const { trimmed = 0, refused = 0, purged = 0 } = this.report?.dropped ?? {}
    const at = this.open?.watch.copy?.at
    return {
      state: this.state,
      ...(this.report && { storage: this.report.storage }),
      tracking: this.allowed(),
      queued: this.open?.outbox.queued ?? 0,
      sending: this.open?.outbox.sending ?? 'idle',
      ...(this.lastError && { lastError: this.lastError }),
      dropped: { trimmed, refused, purged, ...this.counters },
      config: { source: this.configSource, ...(at !== undefined && { at }) },
      sdkVersion: SDK_VERSION,
    }
  }

  /** Counts a call that was not recorded, for `getStatus`. */
  count(what: 'tooLarge' | 'invalid' | 'buffer'): void {
    this.counters[what]++
    if (this.isLive()) this.send(this.open!.outbox.add(undefined, { counters: JSON.stringify(this.counters) }))
  }

  // ── initialize ─────────────────────────────────────────────────────────────────────────────────────────────────────

  private async start(configuration: Configuration, options: CallOptions): Promise<InitResult> {
    const warnings = [...configuration.warnings]
    if (configuration.hasFactories) this.log.write(DEBUG, 'factories are accepted and not used yet')
    const { bridge, isNativeMissing } = await this.connect()
    if (isNativeMissing) warnings.push('NATIVE_BRIDGE_MISSING')
    for (const warning of warnings) this.log.write(warning === 'NO_DATA_PLANE_URL' ? ALWAYS : WARN, warning)

    const opened = await bridge.open(engineSettings(configuration))
    this.heardReport(opened.report)
    this.open = assemble(this.host, bridge, configuration, options, opened, {
      onReport: (report) => this.heardReport(report),
      onCopy: (copy) => this.heardSource(copy),
      onRejected: (status) => this.heardRejection(status),
    })
    const chosen = this.choice
    this.tracking = chosen ?? opened.tracking
    this.load(opened)
    if (this.tracking === 'enabled') await this.goLive()
    else await this.stayQuiet(chosen === 'disabled')
    this.state = 'ready'
    const late = this.choice
    this.choice = undefined
    if (late === 'disabled') await this.disable(true)
    else if (late === 'enabled') await this.enable(true)
    this.beginWork()
    if (configuration.recordScreenViews) this.host.watchRoutes((route) => this.screen(route))
    return { storage: opened.storage, tracking: this.tracking, warnings }
  }

  private load({ state, queued }: Opened): void {
    if (!state) return
    const { recorder, outbox, watch } = this.open!
    this.isLoaded = true
    outbox.queued = queued
    recorder.load(state)
    watch.copy = sourceCopyFrom(state['source'])
    if (watch.copy) this.configSource = 'cache'
    const { tooLarge = 0, invalid = 0, buffer = 0 } = parsedObject(state['counters'])
    this.counters.tooLarge += tooLarge
    this.counters.invalid += invalid
    this.counters.buffer += buffer
  }

  /** Tracking is allowed: what was held becomes rows, in one transaction. @see contracts/cordova-sdk.md §2.2 steps 5–7 */
  private async goLive(): Promise<void> {
    const { bridge, settings, recorder, outbox, lifecycle, configuration } = this.open!
    this.isGoingLive = true
    try {
      if (!this.isLoaded) this.load(await bridge.open(settings))
      for (const call of this.heldPuts.values()) this.deferred.addAfterLeading([call])
      this.heldPuts.clear()
      const changes = this.deferred.takeLeading().map((call) => recorder.apply(call as StateCall, true))
      for (const each of [...changes, recorder.begin()]) this.send(outbox.add(undefined, each))
      if (configuration.autoCollectAdvertId) await this.collectAdvertId()
      if (lifecycle.isCold) this.deferred.addAfterLeading(this.becomeReady())
      if (this.allowed() !== 'enabled') return
      this.recordAll(this.deferred.takeAll())
      await outbox.commit()
    } finally {
      this.isGoingLive = false
    }
    this.recordAll(this.deferred.takeAll())
  }

  /** Initialised without permission. Lifecycle events are held while awaiting consent, and dropped while disabled. */
  private async stayQuiet(isPurgeDue: boolean): Promise<void> {
    const { bridge, recorder, outbox, lifecycle, configuration } = this.open!
    const events = this.becomeReady()
    if (this.tracking === 'awaiting-consent') {
      this.deferred.addAfterLeading(events)
      return
    }
    this.deferred.discardEvents()
    for (const call of this.deferred.takeAll() as StateCall[]) {
      if (isPut(call)) this.heldPuts.set(call.kind, call)
      else this.send(outbox.add(undefined, recorder.apply(call, false)))
    }
    await bridge.state({ marker: markerText(lifecycle.app) })
    if (isPurgeDue && configuration.optOutQueue === 'purge') await this.purge()
  }

  private beginWork(): void {
    const { outbox, watch } = this.open!
    if (this.tracking !== 'enabled') {
      outbox.pause()
      return
    }
    outbox.resume()
    watch.start()
    this.tail.renew()
  }

  private async collectAdvertId(): Promise<void> {
    const { bridge, recorder } = this.open!
    const collected = bridge.advertId().then((facts) => {
      if (this.allowed() === 'enabled') recorder.context.advertise(facts)
    })
    const limit = new Promise<void>((resolve) => this.host.clock.after(ADVERT_ID_MS, resolve))
    await Promise.race([collected.catch(() => undefined), limit])
  }

  private connect(): Promise<Connection> {
    this.connection ??= connect(this.host, (signal) => this.hear(signal)).catch((error: unknown) => {
      this.connection = undefined
      throw error
    })
    return this.connection
  }

  // ── tracking ───────────────────────────────────────────────────────────────────────────────────────────────────────

  private allowed(): Tracking {
    return this.choice ?? this.tracking
  }

  private isLive(): boolean {
    return this.state === 'ready' && this.tracking === 'enabled' && !this.isGoingLive
  }

  private isDisabled(): boolean {
    return this.state === 'ready' && this.tracking === 'disabled'
  }

  /** @param writes false when another tab has written it. */
  private async disable(writes: boolean): Promise<void> {
    const { bridge, outbox, watch, recorder, lifecycle, configuration } = this.open!
    this.send(outbox.commit())
    this.tracking = 'disabled'
    outbox.pause()
    watch.stop()
    this.deferred.takeAll()
    recorder.context.advertise({})
    this.tail.renew()
    if (!writes) return
    await bridge.state({ tracking: 'disabled', marker: markerText(lifecycle.app) })
    if (configuration.optOutQueue === 'purge') await this.purge()
  }

  private async enable(writes: boolean): Promise<void> {
    const wasEnabled = this.tracking === 'enabled'
    this.tracking = 'enabled'
    this.isGoingLive = !wasEnabled
    if (writes) await this.open!.bridge.state({ tracking: 'enabled' })
    if (wasEnabled) return
    await this.goLive()
    this.beginWork()
  }

  private async purge(): Promise<void> {
    const { bridge, outbox, recorder } = this.open!
    recorder.forgetToken()
    this.heldPuts.delete('deviceToken')
    await bridge.purge('events')
    // A push, because its answer tells how many there were.
    await outbox.add(undefined, { deviceToken: null })
  }

  // ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  private defer(call: Call): Promise<CallResult> {
    if (this.deferred.add(call)) return Promise.resolve<CallResult>({ status: 'deferred' })
    this.count('buffer')
    return dropped('BUFFER_FULL')
  }

  private record(call: EventCall): Promise<CallResult> {
    const { recorder, outbox, watch } = this.open!
    if (watch.copy?.enabled === false) return dropped('SOURCE_DISABLED')
    const recorded = recorder.record(call)
    if (recorded.kind === 'too-large') {
      this.count('tooLarge')
      return dropped('TOO_LARGE')
    }
    this.tail.renew()
    const { body, changes, messageId } = recorded
    return outbox.add(body, changes).then(({ inMemory }) => ({ status: inMemory ? 'memory' : 'stored', messageId }))
  }

  private recordAll(calls: readonly Call[]): void {
    for (const call of calls) this.send(isEvent(call) ? this.record(call) : this.applyState(call))
  }

  private applyState(call: StateCall): Promise<CallResult> {
    const { recorder, outbox } = this.open!
    const changes = recorder.apply(call, this.tracking === 'enabled')
    this.tail.renew()
    return outbox.add(undefined, changes).then(({ inMemory }) => ({ status: inMemory ? 'memory' : 'stored' }))
  }

  private screen(route: Route): void {
    const { screenNameOf } = this.open!.configuration
    const name = screenNameOf ? screenNameOf(route.path) : route.path
    if (!isScreenWanted(name, this.lastScreen)) return
    this.lastScreen = name
    const properties = screenProperties(name, route)
    this.send(this.event({ kind: 'screen', name, properties, at: this.host.clock.now(), options: {} }))
  }

  // ── lifecycle ──────────────────────────────────────────────────────────────────────────────────────────────────────

  private becomeReady(): EventCall[] {
    const { lifecycle, bridge } = this.open!
    const events = lifecycle.ready()
    const marker = lifecycle.ownMarker
    if (marker !== undefined && this.allowed() !== 'awaiting-consent') this.send(bridge.state({ marker }))
    return events
  }

  private tailNow(): string | null {
    const { recorder, lifecycle, watch } = this.open!
    return this.isLive() && lifecycle.wantsTail && watch.copy?.enabled !== false ? recorder.tail() : null
  }

  // ── what the engine tells ──────────────────────────────────────────────────────────────────────────────────────────

  private hear(signal: Signal): void {
    const { open } = this
    switch (signal.t) {
      case 'hello':
        return
      case 'log':
        this.log.write(signal.level, signal.text)
        return
      case 'start':
        this.seeAgain(signal.context)
        if (!open) return
        this.emit(open.lifecycle.start(signal.url))
        this.tail.renew()
        return
      case 'stop': {
        this.tail.used()
        const events = open?.lifecycle.stop() ?? []
        if (!signal.stored) this.emit(events)
        return
      }
      case 'network':
        this.seeAgain(signal.context)
        if (signal.online && open?.outbox.sending === 'waiting') this.send(open.outbox.drain(true))
        return
      case 'drained':
        open?.outbox.heard(signal)
        return
      case 'changed':
        this.heardChange(signal.state)
        return
    }
  }

  private emit(events: readonly EventCall[]): void {
    for (const event of events) this.send(this.event(event))
  }

  private seeAgain(context: Opened['context'] | undefined): void {
    const { recorder } = this.open ?? {}
    if (context) recorder?.context.learn(context)
    recorder?.context.see(this.host.page())
  }

  private heardChange({ tracking, ...others }: StateChanges): void {
    if (this.state !== 'ready') return
    if (tracking === 'disabled' && this.tracking !== 'disabled') this.send(this.disable(false))
    if (tracking === 'enabled' && this.tracking !== 'enabled') this.send(this.enable(false))
    if (this.isLoaded) this.open!.recorder.adopt(others)
  }

  private heardReport(report: Report): void {
    const { lastError } = report
    if (lastError && (!this.report?.lastError || this.report.lastError.at <= lastError.at)) this.lastError = lastError
    const now = this.host.clock.monotonic()
    const trimmed = report.dropped.trimmed - (this.report?.dropped.trimmed ?? report.dropped.trimmed)
    if (trimmed > 0 && now >= this.trimWarningFrom) {
      this.trimWarningFrom = now + TRIM_WARNING_MS
      this.log.write(WARN, `the queue is full: the oldest events were deleted, ${report.dropped.trimmed} since install`)
    }
    this.report = report
  }

  private heardSource(copy: SourceCopy): void {
    const { bridge, outbox } = this.open!
    this.configSource = 'network'
    this.send(bridge.state({ source: JSON.stringify(copy) }))
    if (copy.enabled) outbox.resume()
    else this.log.write(WARN, 'the source is disabled: calls are dropped, and stored events stay')
    this.tail.renew()
  }

  private heardRejection(status: number): void {
    const detail = `the source configuration was refused with status ${status}`
    if (this.lastError?.detail !== detail) this.log.write(ERROR, `KEY_REJECTED: ${detail}`)
    this.lastError = { code: 'KEY_REJECTED', at: new Date(this.host.clock.now()).toISOString(), detail }
  }

  /** Before ready. @returns false when there is no engine to write it. */
  private write(changes: StateChanges): Promise<boolean> {
    return this.connect()
      .then(({ bridge }) => bridge.state(changes))
      .then(
        () => true,
        () => false,
      )
  }

  /** For what nobody waits for: an engine rejects only what should not happen. */
  private send(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.log.write(ERROR, textOfError(error)))
  }
}

function dropped(reason: DropReason): Promise<CallResult> {
  return Promise.resolve<CallResult>({ status: 'dropped', reason })
}

/** Of an Error or a fault of the bridge. */
function textOfError(error: unknown): string {
  const { code, detail, message } = (error ?? {}) as { code?: unknown; detail?: unknown; message?: unknown }
  return message !== undefined ? String(message) : `${String(code)}: ${String(detail)}`
}
