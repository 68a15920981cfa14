import type { DrainOutcome, EngineSettings } from '../core/bridge.ts'
import type { Clock } from '../core/clock.ts'
import { DEBUG, ERROR, VERBOSE } from '../core/log.ts'
import { parsedObject } from '../core/text/parsed-json.ts'
import { utf8 } from '../core/text/utf8.ts'
import { type Attempt, batchBytes, batchText, ENVELOPE_BYTES, MAX_BODY_BYTES, PER_EVENT_BYTES } from './batch.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { StoredRow } from './event-database.ts'
import type { EventStore } from './event-store.ts'
import type { Answer, Body, Http } from './http.ts'
import { INDEX_HEADER, judged, refusedOf, retryAfterMs } from './judge.ts'
import { refusalsAfter } from './refusals.ts'
import type { NoAnswer, Wait } from './wait.ts'

const GZIP_FROM_BYTES = 1_024
const PLAIN_MS = 7 * 24 * 3_600_000
const ANSWER_BYTES = 4 * 1024
const DETAIL_LENGTH = 200

/** What a sender is given of the page. */
export interface SenderPage {
  readonly clock: Clock
  /** Absent where the browser cannot compress. */
  readonly gzip?: ((text: string) => Promise<Uint8Array<ArrayBuffer>>) | undefined
  /** Why a request to this address got no answer. */
  readonly whyNoAnswer: (url: string) => Promise<NoAnswer>
  /** A request was answered: earlier trouble with the address is over. */
  readonly onAnswer: () => void
}

/** Why a drain ends before the queue is empty. */
export interface End {
  readonly outcome: DrainOutcome
  readonly retryAfterMs?: number | undefined
}

/**
 * Sends batches and does what their answers say. What it stops for, and write keys that it has set aside, last as long as
 * this object, or until `resume`.
 *
 * @param settings of the engine, once it is open.
 * @param barred why nothing may be sent, if so: asked before each request, and ends the drain.
 * @param mayTake rows that are not under way elsewhere.
 * @param attempts is told of each batch, and says what attempt it is.
 * @see BRIDGE.md "drain", contracts/cordova-sdk.md §15
 */
export function newSender(
  { clock, gzip, whyNoAnswer, onAnswer }: SenderPage,
  store: EventStore,
  diagnostics: Diagnostics,
  http: Http,
  wait: Wait,
  log: (level: number, text: string) => void,
  settings: () => EngineSettings,
  barred: () => DrainOutcome | undefined,
  mayTake: (row: StoredRow) => boolean,
  attempts: { begins(ids: readonly number[]): Attempt; ended(): void },
) {
  /** The oldest rows, before this one, are of write keys that are set aside: they are not read for each batch. */
  let from = 0
  const setAside = new Map<string, DrainOutcome>()
  let stoppedFor: DrainOutcome | undefined
  /** A compressed request to the address has been understood. */
  let gzipWorksAt: string | undefined
  /** Rows that the drain has delivered so far. */
  let sent = 0

  /** The oldest row that may be taken decides the write key; then the oldest of that key, as many as fit. One always does. */
  const nextBatch = async (): Promise<readonly StoredRow[]> => {
    const rows: StoredRow[] = []
    const { flushQueueSize } = settings()
    let bytes = ENVELOPE_BYTES
    let isPrefix = true
    await store.visit((row) => {
      const [first = row] = rows
      isPrefix = isPrefix && setAside.has(row.writeKey)
      if (isPrefix) from = row.id + 1
      if (setAside.has(row.writeKey) || !mayTake(row) || first.writeKey !== row.writeKey) return true
      bytes += row.size + PER_EVENT_BYTES
      if (rows.length && bytes > MAX_BODY_BYTES) return false
      return rows.push(row) < flushQueueSize
    }, from)
    return rows
  }

  /** @returns why the drain has to end, if it has. */
  const deliver = async (rows: readonly StoredRow[]): Promise<End | undefined> => {
    if (!rows.length || setAside.has(rows[0]!.writeKey)) return undefined
    const answer = barred() ? undefined : await request(rows)
    if (!answer) {
      const outcome = barred()
      if (outcome) return { outcome }
      const why = await whyNoAnswer(settings().dataPlaneUrl)
      diagnostics.failed(why, 'no answer')
      return wait.failed(why, 0)
    }
    onAnswer()
    const verdict = judged(answer)
    if (verdict === 'accepted') {
      wait.succeeded()
      sent += rows.length
      await store.remove(rows.map((row) => row.id))
      return undefined
    }
    if (verdict === 'refused') {
      const refused = rows.length > 1 ? refusedOf(rows, answer) : rows[0]
      if (refused) {
        return (await refuse(refused, answer)) || deliver(rows.filter((row) => row !== refused))
      }
      const middle = rows.length >> 1
      return (await deliver(rows.slice(0, middle))) || deliver(rows.slice(middle))
    }
    const detail = `status ${answer.httpStatus}`
    if (verdict === 'later') {
      diagnostics.failed('RETRY_LATER', detail)
      return wait.failed('RETRY_LATER', retryAfterMs(answer, clock.now()))
    }
    const { writeKey } = rows[0]!
    const isFormer = verdict !== 'WRONG_ADDRESS' && writeKey !== settings().writeKey
    diagnostics.told(ERROR, verdict, isFormer ? `${detail} for a former write key` : detail)
    if (isFormer) return void setAside.set(writeKey, verdict)
    stoppedFor = verdict
    return { outcome: verdict }
  }

  const refuse = async (
    { id, body }: StoredRow,
    { httpStatus: status, answerText = '' }: Answer,
  ): Promise<End | undefined> => {
    const values = refusalsAfter(store.kept('refusals'), clock.now())
    if (!values) {
      diagnostics.failed('RETRY_LATER', `status ${status}`)
      return wait.longest()
    }
    await store.remove([id], 'refused', values)
    log(ERROR, `The server refused event ${messageIdOf(body)} with ${status}: ${answerText.slice(0, DETAIL_LENGTH)}`)
    return undefined
  }

  /** One batch; a second time, plain, to a server that seems not to understand gzip. */
  const request = async (rows: readonly StoredRow[]): Promise<Answer | undefined> => {
    const { dataPlaneUrl, gzip: mayCompress } = settings()
    const { address, until } = parsedObject(store.kept('plain'))
    const plainMs = until - clock.now()
    // A longer mark is of a clock that was wrong.
    const isPlain = address === dataPlaneUrl && plainMs > 0 && plainMs <= PLAIN_MS
    const bytes = batchBytes(rows)
    const text = () => batchText(rows, attempts.begins(rows.map((row) => row.id)), clock.now())
    const body = text()
    const wantsGzip = gzip && mayCompress && !isPlain && bytes >= GZIP_FROM_BYTES
    const compressed = wantsGzip && (await gzip(body).catch(diagnostics.fault))
    if (!compressed) return told(rows, body, bytes)
    const answer = await told(rows, compressed, compressed.length)
    if (isAccepted(answer)) gzipWorksAt = dataPlaneUrl
    if (!answer || gzipWorksAt === dataPlaneUrl || !mayMeanNoGzip(answer)) return answer
    const plain = await told(rows, text(), bytes)
    if (isAccepted(plain)) {
      await store.commit([], { plain: JSON.stringify({ address: dataPlaneUrl, until: clock.now() + PLAIN_MS }) })
    }
    return plain
  }

  const told = async (rows: readonly StoredRow[], body: Body, bytes: number): Promise<Answer | undefined> => {
    const from = clock.monotonic()
    for (const row of rows) log(VERBOSE, row.body)
    // Once more: compressing takes time.
    const answer = barred() ? undefined : await post(rows[0]!.writeKey, body, bytes, ANSWER_BYTES)
    attempts.ended()
    const ms = Math.round(clock.monotonic() - from)
    const outcome = answer ? answer.httpStatus : 'no answer'
    log(DEBUG, `batch of ${rows.length} events, ${bytes} bytes: ${outcome} in ${ms} ms`)
    return answer
  }

  /** @param bytes of the body. @param reads bytes of the answer's text. */
  const post = (writeKey: string, body: Body, bytes: number, reads: number): Promise<Answer | undefined> => {
    const headers: Record<string, string> = {
      Authorization: authorization(writeKey),
      'Content-Type': 'application/json',
    }
    const anonymousId = store.kept('anonymousId')
    if (anonymousId !== undefined) headers['AnonymousId'] = base64(anonymousId)
    if (typeof body !== 'string') headers['Content-Encoding'] = 'gzip'
    return http.send(`${settings().dataPlaneUrl}/v1/batch`, headers, reads, body, bytes)
  }

  return {
    post,
    stoppedFor: () => stoppedFor,
    resume() {
      stoppedFor = undefined
      setAside.clear()
      from = 0
    },
    async drain(): Promise<End & { sent: number }> {
      sent = 0
      for (;;) {
        const rows = await nextBatch()
        const end = await deliver(rows)
        if (end) return { ...end, sent }
        if (rows.length) continue
        const [aside] = setAside.values()
        return { outcome: (store.rowCount() > 0 && aside) || 'EMPTY', sent }
      }
    },
  }
}

export function authorization(writeKey: string): string {
  return `Basic ${base64(`${writeKey}:`)}`
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...utf8(text)))
}

function isAccepted(answer: Answer | undefined): boolean {
  return answer !== undefined && judged(answer) === 'accepted'
}

/** An answer that names an event has read the body. */
function mayMeanNoGzip({ httpStatus: status, header }: Answer): boolean {
  return [400, 415, 500].includes(status) && header(INDEX_HEADER) === null
}

function messageIdOf(body: string): string {
  return body.split('"', 4)[3]!
}
