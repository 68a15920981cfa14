import type {
  Bridge,
  ConfigAnswer,
  ContextFacts,
  Drained,
  DrainOutcome,
  EngineSettings,
  Marker,
  Opened,
  Push,
  Pushed,
  Signal,
  StateChanges,
  Tracking,
} from '../core/bridge.ts'
import type { Clock } from '../core/clock.ts'
import { eventText } from '../core/event-text.ts'
import { ERROR } from '../core/log.ts'
import { parsedJson, parsedObject } from '../core/parsed-json.ts'
import { BatchFilling, batchBody, rowOf } from './batch.ts'
import { EventQueue } from './event-queue.ts'
import type { EventStore, StoredRow } from './event-store.ts'
import { ExitCopy, type ExitRow } from './exit-copy.ts'
import { Guard, type GuardStorage } from './guard.ts'
import { judged } from './judge.ts'
import { authorization, batchHeaders, type NoAnswer, Sender } from './sender.ts'
import { type Fetch, Transport } from './transport.ts'

/** What the engine is given of the page. */
export interface WebEngineOptions {
  readonly openStore: () => Promise<EventStore>
  readonly guardStorage: () => GuardStorage
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: () => number
  readonly newId: () => string
  readonly gzip?: (text: string) => Promise<Uint8Array<ArrayBuffer>>
  /** One holder over all tabs. Absent without Web Locks: each tab then sends its own rows. */
  readonly locks?: DrainLock
  /** Other tabs of this app. */
  readonly tabs?: Tabs
  readonly whyNoAnswer: (url: string) => Promise<NoAnswer>
  /** A request was answered: earlier trouble with the address is over. */
  readonly onAnswer: () => void
  readonly context: () => ContextFacts
  readonly isForeground: () => boolean
  /** Of the Cordova platform, for the source configuration. */
  readonly platformVersion?: string
}

export interface DrainLock {
  /** Runs the work under the lock. @param waitMs how long to wait for it, 0: not at all. @returns 'busy' without it. */
  hold<T>(waitMs: number, work: () => Promise<T>): Promise<T | 'busy'>
}

export interface Tabs {
  tell(changes: StateChanges): void
  onTold(hear: (changes: StateChanges) => void): void
}

/** What all tabs have to agree about. */
const SHARED_KEYS = ['tracking', 'anonymousId', 'userId', 'traits', 'externalIds', 'deviceToken', 'session'] as const
const KEPT_BY_PURGE = ['tracking', 'marker', 'source', 'trimmed', 'refused', 'purged']
const LOCK_WAIT_MS = 30_000
const CONFIG_BYTES = 1024 * 1024
const EXIT_BYTES = 60 * 1024
const BY_STATE: Record<Exclude<Tracking, 'enabled'>, DrainOutcome> = {
  disabled: 'OPTED_OUT',
  'awaiting-consent': 'AWAITING_CONSENT',
}

/** The engine of a page: IndexedDB, fetch, page signals. @see BRIDGE.md */
export class WebEngine implements Bridge {
  private readonly options: WebEngineOptions
  private readonly queue: EventQueue
  private readonly guard: Guard
  private readonly transport: Transport
  private readonly sender: Sender
  private readonly exit = new ExitCopy()
  private settings: EngineSettings | undefined
  private tracking: Tracking = 'enabled'
  private tail_: string | null = null
  private hear: (signal: Signal) => void = () => undefined
  private drains: Promise<unknown> = Promise.resolve()
  /** Rows up to here were there when this tab started: with those it wrote, its share without Web Locks. */
  private foundUpTo = 0
  private isGuardLost = false

  constructor(options: WebEngineOptions) {
    this.options = options
    const { openStore, guardStorage, clock, random, fetch, gzip, whyNoAnswer, onAnswer } = options
    const log = (level: number, text: string) => this.tell(level, text)
    this.queue = new EventQueue({ openStore, clock, log, onRemoved: (ids) => this.exit.forget(ids) })
    this.guard = new Guard(guardStorage)
    this.transport = new Transport(fetch, clock)
    this.sender = new Sender({
      queue: this.queue,
      transport: this.transport,
      clock,
      random,
      log,
      ...(gzip && { gzip }),
      whyNoAnswer,
      onAnswer,
    })
    options.tabs?.onTold((changes) => this.told(changes))
  }

  listen(hear: (signal: Signal) => void): void {
    this.hear = hear
    hear({ t: 'hello' })
  }

  async open(settings: EngineSettings): Promise<Opened> {
    await this.queue.load()
    await this.queue.recount()
    this.settings = settings
    const guarded = this.guard.read()
    const known = [guarded['tracking'], this.queue.value('tracking')]
    const isAllowed = known.includes('enabled') || !settings.requireConsent
    this.tracking = known.includes('disabled') ? 'disabled' : isAllowed ? 'enabled' : 'awaiting-consent'
    const isReadable = this.tracking !== 'awaiting-consent'
    if (isReadable) await this.restoreId(guarded['anonymousId'])
    if (this.foundUpTo === 0) await this.rememberFound()
    return {
      storage: this.queue.report().storage,
      tracking: this.tracking,
      ...(isReadable && { state: this.queue.values() }),
      launch: { foreground: this.options.isForeground(), marker: markerFrom(guarded['marker']) },
      context: this.options.context(),
      queued: isReadable ? this.queue.size : 0,
      report: this.queue.report(),
    }
  }

  async push({ rows, state }: Push): Promise<Pushed> {
    const { inMemory } = await this.store(
      rows.map(({ body }) => body),
      state,
    )
    return { queued: this.queue.size, inMemory, report: this.queue.report() }
  }

  async state(changes: StateChanges): Promise<null> {
    this.writeGuard(changes)
    if (changes['tracking'] === 'disabled' || changes['tracking'] === 'enabled') this.track(changes['tracking'])
    if (isEnabledSource(changes['source'])) this.sender.resume()
    await this.queue.load()
    await this.queue.set(changes)
    this.tellTabs(changes)
    return null
  }

  async tail(text: string | null): Promise<null> {
    this.tail_ = text
    return null
  }

  drain({ force }: { readonly force: boolean }): Promise<Drained> {
    return this.inLine(() => this.drainNow(force))
  }

  async purge(what: 'events' | 'all'): Promise<null> {
    await this.queue.load()
    const changes: Record<string, null> = {}
    if (what === 'all') {
      for (const key of Object.keys(this.queue.values())) if (!KEPT_BY_PURGE.includes(key)) changes[key] = null
      changes['anonymousId'] = null
      this.writeGuard(changes)
    }
    this.exit.clear()
    await this.queue.purge(changes)
    this.tellTabs(changes)
    return null
  }

  async config({ etag }: { readonly etag?: string }): Promise<ConfigAnswer> {
    const { controlPlaneUrl, writeKey, sdkVersion } = this.settings!
    if (controlPlaneUrl === '') return { status: 0 }
    const { platformVersion } = this.options
    const version = platformVersion === undefined ? '' : `&bv=${encodeURIComponent(platformVersion)}`
    const answer = await this.transport.send({
      url: `${controlPlaneUrl}/sourceConfig?p=browser&v=${sdkVersion}${version}`,
      method: 'GET',
      headers: { ...authorization(writeKey), ...(etag !== undefined && { 'If-None-Match': etag }) },
      reads: CONFIG_BYTES,
    })
    if (!answer || answer.text === undefined) return { status: 0 }
    const newEtag = answer.header('ETag')
    return {
      status: answer.status,
      ...(newEtag !== null && { etag: newEtag }),
      ...(answer.status === 200 && { body: answer.text }),
    }
  }

  /** A page has none; the app may give one. */
  async advertId(): Promise<object> {
    return {}
  }

  /** The rows there are, oldest first, until the visitor answers false. */
  visit(visitor: (row: StoredRow) => boolean): Promise<void> {
    return this.queue.visit(visitor)
  }

  // ── signals of the page ────────────────────────────────────────────────────────────────────────────────────────────

  start(): void {
    this.hear({ t: 'start', context: this.options.context() })
  }

  /** The page is hidden or left: everything that cannot wait happens before this returns. */
  stop(): Promise<void> {
    const tail = this.tail_
    this.tail_ = null
    const isStored = tail !== null && this.tracking === 'enabled'
    const { clock, newId } = this.options
    const stored = isStored ? this.store([eventText(newId(), clock.now(), tail)], {}) : Promise.resolve()
    const left = this.sendExitBatch()
    this.hear({ t: 'stop', stored: isStored })
    return this.inLine(async () => {
      await Promise.all([stored, left])
      if (this.settings) this.hear({ t: 'drained', ...(await this.drainNow(false)) })
    }).catch(() => undefined)
  }

  /** A line for the console. */
  tell(level: number, text: string): void {
    this.hear({ t: 'log', level, text })
  }

  network(online: boolean): void {
    this.hear({ t: 'network', online, context: this.options.context() })
  }

  // ── parts ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  private async store(bodies: readonly string[], values: StateChanges): Promise<{ inMemory: boolean }> {
    const { writeKey, dbThresholdCount } = this.settings!
    const rows = bodies.map((body) => rowOf(writeKey, body))
    const copied = this.exit.add(rows)
    const { ids, inMemory } = await this.queue.push({ rows, values, keepNewest: dbThresholdCount })
    this.exit.committed(copied, ids)
    this.writeGuard(values)
    this.tellTabs(values)
    return { inMemory }
  }

  private async drainNow(force: boolean): Promise<Drained> {
    const { locks } = this.options
    const early =
      this.obstacle() ?? (this.queue.size === 0 && !locks ? 'EMPTY' : undefined) ?? this.sender.wait.left(force)
    const end =
      early === undefined ? await this.underLock(force) : typeof early === 'string' ? { outcome: early } : early
    await this.queue.recount()
    if (this.exit.hasRoomAgain) await this.exit.refill((visitor) => this.queue.visit(visitor))
    const { outcome, retryAfterMs, sent = 0 } = end as { outcome: DrainOutcome; retryAfterMs?: number; sent?: number }
    const remaining = this.tracking === 'awaiting-consent' ? 0 : this.queue.size
    return {
      sent,
      remaining,
      outcome,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      report: this.queue.report(),
    }
  }

  private async underLock(force: boolean): Promise<{ outcome: DrainOutcome; retryAfterMs?: number; sent?: number }> {
    const { locks } = this.options
    const settings = this.settings!
    const mayTake = ({ id }: StoredRow) => !this.exit.isUnderWay(id) && (locks !== undefined || this.isOurs(id))
    const work = () => this.sender.drain(settings, () => this.obstacle(), mayTake)
    const end = locks ? await locks.hold(force ? LOCK_WAIT_MS : 0, work) : await work()
    return end === 'busy' ? { outcome: 'BUSY' } : end
  }

  /** Why nothing may be sent, if so. */
  private obstacle(): DrainOutcome | undefined {
    if (this.tracking !== 'enabled') return BY_STATE[this.tracking]
    if (isDisabledSource(this.queue.value('source'))) return 'SOURCE_DISABLED'
    if (this.settings?.dataPlaneUrl === '') return 'NO_DATA_PLANE_URL'
    return this.sender.isStopped
  }

  /** The last batch, from memory and plain: nothing may be awaited before it is under way. */
  private async sendExitBatch(): Promise<void> {
    const { settings } = this
    if (!settings || this.obstacle() || this.sender.wait.left(true)) return
    const limits = { events: settings.flushQueueSize, bytes: Math.min(EXIT_BYTES, this.transport.keepaliveLeft) }
    const filling = new BatchFilling(limits)
    const rows = this.exit.take((row) => fitsExit(filling, row, limits.bytes))
    if (rows.length === 0) return
    const body = batchBody(rows, this.options.clock.now())
    const answer = await this.transport.send({
      url: `${settings.dataPlaneUrl}/v1/batch`,
      method: 'POST',
      headers: batchHeaders(settings.writeKey, this.queue.value('anonymousId'), false),
      body,
      bytes: filling.bytes,
      reads: 0,
    })
    // Rows that are committed only now have an id from here on.
    await this.queue.recount()
    const ids = rows.flatMap(({ id }) => (id === undefined ? [] : [id]))
    const verdict = answer && judged(answer, rows.length)
    if (verdict?.kind === 'accepted') {
      this.sender.wait.reset()
      await this.queue.remove(ids)
    }
    this.exit.release(rows)
    // Everything else is found out by the drain that follows, unless the server has asked to be left alone.
    if (verdict?.kind === 'later')
      this.sender.wait.failed('RETRY_LATER', verdict.retryAfterMs(this.options.clock.now()))
  }

  private track(tracking: 'enabled' | 'disabled'): void {
    this.tracking = tracking
    if (tracking === 'enabled') return
    this.tail_ = null
    this.transport.abort()
  }

  private told(changes: StateChanges): void {
    this.queue.adopt(changes)
    const { tracking } = changes
    if (tracking === 'enabled' || tracking === 'disabled') this.track(tracking)
    this.hear({ t: 'changed', state: changes })
  }

  private tellTabs(changes: StateChanges): void {
    const shared: Record<string, string | null> = {}
    for (const key of SHARED_KEYS) if (changes[key] !== undefined) shared[key] = changes[key]
    if (Object.keys(shared).length > 0) this.options.tabs?.tell(shared)
  }

  private writeGuard(changes: StateChanges): void {
    if (this.guard.write(changes) || this.isGuardLost) return
    this.isGuardLost = true
    this.queue.note('STORAGE_IO', 'the guard cannot be written')
    this.tell(ERROR, 'STORAGE_IO the guard cannot be written; the database copy counts')
  }

  /** An anonymousId that was lost with the database. */
  private async restoreId(guarded: string | undefined): Promise<void> {
    if (guarded !== undefined && this.queue.value('anonymousId') === undefined) {
      await this.queue.set({ anonymousId: guarded })
    }
  }

  private async rememberFound(): Promise<void> {
    await this.queue.visit(({ id }) => {
      this.foundUpTo = Math.max(this.foundUpTo, id)
      return true
    })
  }

  private isOurs(id: number): boolean {
    return id <= this.foundUpTo || this.exit.isOwn(id)
  }

  private inLine<T>(work: () => Promise<T>): Promise<T> {
    const result = this.drains.then(work)
    this.drains = result.catch(() => undefined)
    return result
  }
}

function fitsExit(filling: BatchFilling, row: ExitRow, limitBytes: number): boolean {
  return filling.add({ ...row, id: row.id ?? 0, writeKey: '' }) && filling.bytes <= limitBytes
}

function markerFrom(text: string | undefined): Marker | null {
  const marker = parsedJson(text)
  return typeof marker === 'object' ? marker : null
}

function isDisabledSource(text: string | undefined): boolean {
  return parsedObject(text)['enabled'] === false
}

function isEnabledSource(text: string | null | undefined): boolean {
  return parsedObject(text)['enabled'] === true
}
