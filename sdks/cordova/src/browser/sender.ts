import type { DrainOutcome, EngineSettings } from '../core/bridge.ts'
import type { Clock } from '../core/clock.ts'
import { DEBUG, ERROR, VERBOSE } from '../core/log.ts'
import { parsedObject } from '../core/parsed-json.ts'
import { utf8Length } from '../core/utf8.ts'
import { batchBody, nextBatch } from './batch.ts'
import type { EventQueue } from './event-queue.ts'
import type { StoredRow } from './event-store.ts'
import { judged } from './judge.ts'
import { Refusals } from './refusals.ts'
import type { Answer, Transport } from './transport.ts'
import { Wait } from './wait.ts'

const GZIP_FROM_BYTES = 1_024
const PLAIN_MS = 7 * 24 * 3_600_000
const ANSWER_BYTES = 4 * 1024
const DETAIL_LENGTH = 200

export type NoAnswer = 'CSP_BLOCKED' | 'OFFLINE' | 'RETRY_LATER'

export interface SenderOptions {
  readonly queue: EventQueue
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly log: (level: number, text: string) => void
  /** Absent where the browser cannot compress. */
  readonly gzip?: (text: string) => Promise<Uint8Array<ArrayBuffer>>
  /** Why a request to this address got no answer. */
  readonly whyNoAnswer: (url: string) => Promise<NoAnswer>
  readonly onAnswer: () => void
}

/** Why a drain ends before the queue is empty. */
interface End {
  readonly outcome: DrainOutcome
  readonly retryAfterMs?: number
}

/**
 * Sends batches and does what their answers say. What it stops for, and write keys that it has set aside, last as long as
 * this object, or until `resume`.
 *
 * @see BRIDGE.md "drain", contracts/cordova-sdk.md §15
 */
export class Sender {
  readonly wait: Wait
  private readonly options: SenderOptions
  private readonly refusals: Refusals
  private readonly setAside = new Map<string, DrainOutcome>()
  private stopped: DrainOutcome | undefined
  /** A compressed request to the address has been understood. */
  private gzipWorksAt: string | undefined

  constructor(options: SenderOptions) {
    this.options = options
    this.wait = new Wait(options.clock, options.random)
    this.refusals = new Refusals(options.queue, options.clock)
  }

  get isStopped(): DrainOutcome | undefined {
    return this.stopped
  }

  resume(): void {
    this.stopped = undefined
    this.setAside.clear()
  }

  /**
   * @param mayGoOn asked before each request; what it answers, if anything, ends the drain.
   * @param mayTake rows that are not under way elsewhere.
   */
  async drain(
    settings: EngineSettings,
    mayGoOn: () => DrainOutcome | undefined,
    mayTake: (row: StoredRow) => boolean,
  ): Promise<End & { sent: number }> {
    const sent = { rows: 0 }
    for (;;) {
      const obstacle = mayGoOn()
      if (obstacle) return { outcome: obstacle, sent: sent.rows }
      const isFree = (row: StoredRow) => !this.setAside.has(row.writeKey) && mayTake(row)
      const rows = await nextBatch(this.options.queue, settings.flushQueueSize, isFree)
      if (rows.length === 0) {
        const [aside] = this.setAside.values()
        return { outcome: (this.options.queue.size > 0 && aside) || 'EMPTY', sent: sent.rows }
      }
      const end = await this.deliver(rows, settings, mayGoOn, sent)
      if (end) return { ...end, sent: sent.rows }
    }
  }

  /** @returns why the drain has to end, if it has. */
  private async deliver(
    rows: readonly StoredRow[],
    settings: EngineSettings,
    mayGoOn: () => DrainOutcome | undefined,
    sent: { rows: number },
  ): Promise<End | undefined> {
    const again = (some: readonly StoredRow[]) =>
      some.length === 0 ? undefined : this.deliver(some, settings, mayGoOn, sent)
    const obstacle = mayGoOn()
    if (obstacle) return { outcome: obstacle }
    const answer = await this.request(rows, settings)
    if (!answer) return mayGoOn() ? { outcome: mayGoOn()! } : this.unanswered(settings.dataPlaneUrl)
    this.options.onAnswer()
    const verdict = judged(answer, rows.length)
    switch (verdict.kind) {
      case 'accepted':
        this.wait.reset()
        sent.rows += rows.length
        await this.options.queue.remove(rows.map(({ id }) => id))
        return undefined
      case 'refused-one': {
        const refused = rows[verdict.index]!
        return (await this.refuse(refused, answer)) ?? again(rows.filter((row) => row !== refused))
      }
      case 'refused': {
        if (rows.length === 1) return this.refuse(rows[0]!, answer)
        const middle = Math.floor(rows.length / 2)
        return (await again(rows.slice(0, middle))) ?? again(rows.slice(middle))
      }
      case 'later':
        this.options.queue.note('RETRY_LATER', `status ${answer.status}`)
        return this.waited('RETRY_LATER', verdict.retryAfterMs(this.options.clock.now()))
      case 'stop':
        return this.stop(verdict.reason, rows[0]!.writeKey, settings, answer)
    }
  }

  private stop(
    reason: DrainOutcome & ('KEY_REJECTED' | 'NOT_FOUND' | 'WRONG_ADDRESS'),
    writeKey: string,
    settings: EngineSettings,
    answer: Answer,
  ): End | undefined {
    const { queue, log } = this.options
    const detail = `status ${answer.status}${locationOf(answer)}`
    queue.note(reason, detail)
    if (reason === 'WRONG_ADDRESS' || writeKey === settings.writeKey) {
      log(ERROR, `${reason}: ${detail}; no more events are sent until the app starts again`)
      this.stopped = reason
      return { outcome: reason }
    }
    log(ERROR, `${reason}: ${detail} for events of a former write key; they stay and are tried at the next start`)
    this.setAside.set(writeKey, reason)
    return undefined
  }

  private async unanswered(url: string): Promise<End> {
    const outcome = await this.options.whyNoAnswer(url)
    this.options.queue.note(outcome, 'no answer')
    return this.waited(outcome, 0)
  }

  private waited(outcome: NoAnswer, retryAfterMs: number): End {
    return { outcome, retryAfterMs: this.wait.failed(outcome, retryAfterMs) }
  }

  private async refuse(row: StoredRow, { status, text = '' }: Answer): Promise<End | undefined> {
    const { queue, log } = this.options
    const values = this.refusals.next()
    if (!values) {
      queue.note('RETRY_LATER', `status ${status}: more than 20 events were refused within an hour`)
      return { outcome: 'RETRY_LATER', retryAfterMs: this.wait.longest() }
    }
    await queue.remove([row.id], 'refused', values)
    const [, messageId = ''] = /^\{"messageId":"([^"]*)"/.exec(row.body) ?? []
    log(ERROR, `The server refused event ${messageId} with status ${status}: ${text.slice(0, DETAIL_LENGTH)}`)
    return undefined
  }

  /** One batch; a second time, plain, to a server that seems not to understand gzip. */
  private async request(rows: readonly StoredRow[], settings: EngineSettings): Promise<Answer | undefined> {
    const { clock, queue, gzip } = this.options
    const { dataPlaneUrl } = settings
    const body = batchBody(rows, clock.now())
    const isCompressed = settings.gzip && utf8Length(body) >= GZIP_FROM_BYTES && !this.isMarkedPlain(dataPlaneUrl)
    if (!isCompressed || !gzip) return this.post(rows, body, settings)
    const answer = await this.post(rows, await gzip(body), settings)
    if (answer && isSuccess(answer.status)) this.gzipWorksAt = dataPlaneUrl
    if (!answer || this.gzipWorksAt === dataPlaneUrl || !mayMeanNoGzip(answer)) return answer
    const plain = await this.post(rows, batchBody(rows, clock.now()), settings)
    if (plain && isSuccess(plain.status)) {
      await queue.set({ plain: JSON.stringify({ address: dataPlaneUrl, until: clock.now() + PLAIN_MS }) })
    }
    return plain
  }

  private async post(
    rows: readonly StoredRow[],
    body: string | Uint8Array<ArrayBuffer>,
    { dataPlaneUrl }: EngineSettings,
  ): Promise<Answer | undefined> {
    const { clock, log, transport, queue } = this.options
    const from = clock.monotonic()
    for (const row of rows) log(VERBOSE, row.body)
    const bytes = typeof body === 'string' ? utf8Length(body) : body.length
    const answer = await transport.send({
      url: `${dataPlaneUrl}/v1/batch`,
      method: 'POST',
      headers: batchHeaders(rows[0]!.writeKey, queue.value('anonymousId'), typeof body !== 'string'),
      body,
      bytes,
      reads: ANSWER_BYTES,
    })
    const ms = Math.round(clock.monotonic() - from)
    log(DEBUG, `${rows.length} events, ${bytes} bytes: ${answer ? `status ${answer.status}` : 'no answer'}, ${ms} ms`)
    return answer
  }

  private isMarkedPlain(url: string): boolean {
    const { address, until } = parsedObject(this.options.queue.value('plain'))
    return address === url && until > this.options.clock.now()
  }
}

export function batchHeaders(
  writeKey: string,
  anonymousId: string | undefined,
  isCompressed: boolean,
): Record<string, string> {
  return {
    ...authorization(writeKey),
    ...(anonymousId !== undefined && { AnonymousId: base64(anonymousId) }),
    'Content-Type': 'application/json',
    ...(isCompressed && { 'Content-Encoding': 'gzip' }),
  }
}

export function authorization(writeKey: string): { Authorization: string } {
  return { Authorization: `Basic ${base64(`${writeKey}:`)}` }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** An answer that names an event has read the body. */
function mayMeanNoGzip({ status, header }: Answer): boolean {
  return (status === 400 || status === 415 || status === 500) && header('X-Millrace-Event-Index') === null
}

function locationOf({ header }: Answer): string {
  const [, host = ''] = /^[a-z]+:\/\/([^/?#]+)/i.exec(header('Location') ?? '') ?? []
  return host === '' ? '' : `, redirected to ${host}`
}
