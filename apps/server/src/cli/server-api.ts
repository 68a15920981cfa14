import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Paging } from '@millrace/api-types'
import type { Clock, Timer } from '@millrace/std'
import { loadClientSettings, loadSettings, type Settings } from '../config/settings.ts'
import { CommandError, type CommandIo, usageError } from './command-io.ts'
import { commandLine } from './command-line.ts'
import { type ServerEvent, serverEvents } from './events/server-events.ts'
import { oneLine } from './paint.ts'
import { during } from './progress.ts'

/** An id as one segment of a path. URL parsers remove an empty one and dots: the path would be of another route. */
export function idInPath(id: string): string {
  if (['', '.', '..'].includes(id)) throw usageError(`"${id}" is not an id.`)
  return encodeURIComponent(id)
}

/** Options of every command that calls a server; they take precedence over the environment. */
export interface ServerOptions {
  readonly url?: string
  readonly email?: string
  readonly token?: string
}

/** An answer that is not a success. */
export class AnswerError extends CommandError {
  readonly status: number
  readonly said: Said

  constructor(status: number, message: string, advice?: string, said: Said = { text: '', details: undefined }) {
    super(message, advice)
    this.status = status
    this.said = said
  }
}

/** The text of an error of ours; empty for any other answer. @see contracts/control-plane.md §4 "errors" */
export interface Said {
  readonly text: string
  readonly details: unknown
}

const TIMEOUT_MS = 30_000
const MAX_PAGES = 20
/** The server ends a test after a minute, and a test may wait ten seconds to start. */
const TEST_TIMEOUT_MS = 90_000
/** The server writes it for commands on its own machine. */
const TOKEN_FILE = 'cli-token'

/**
 * Calls the routes of a server.
 *
 * @see contracts/control-plane.md §10
 */
export class ServerApi {
  readonly url: string
  /** The options that a next command needs to call the same server. */
  readonly #urlOption: readonly string[]
  readonly #authorization: string | undefined
  readonly #token: string | undefined
  readonly #tokenName: string
  readonly #withoutToken: string
  readonly #io: Pick<CommandIo, 'stderr' | 'clock'>

  /** @throws SettingsError */
  constructor(options: ServerOptions, io: Pick<CommandIo, 'env' | 'stderr' | 'clock'>) {
    const { env } = io
    this.#io = io
    const settings = loadClientSettings(env)
    this.url = options.url ?? settings.url
    this.#urlOption = this.url === settings.url ? [] : ['--url', this.url]
    const given = { email: options.email ?? settings.email, token: options.token ?? settings.token }
    const local = given.token === undefined ? localToken(this.url, env) : undefined
    this.#authorization = authorizationOf(given.token === undefined ? { token: local?.token } : given)
    this.#token = given.token ?? local?.token
    this.#tokenName = local?.token === undefined ? 'this token' : `the token in ${local.file}`
    this.#withoutToken = local?.why ?? ''
  }

  /** A command that calls the same server, to print. */
  commandLine(...words: string[]): string {
    return commandLine([...words, ...this.#urlOption])
  }

  /** @throws CommandError for every failure; AnswerError if the server's answer is not a success. */
  get<T>(path: string): Promise<T> {
    return this.send('GET', path)
  }

  /** All items of a list, up to 10,000. @param list the member of the answer with the items. */
  async all<T>(path: string, list: string): Promise<T[]> {
    const found: T[] = []
    let next = `${path}?limit=500`
    for (let page = 0; page < MAX_PAGES && next !== ''; page++) {
      const answer = await this.get<Record<string, T[]> & { paging: Paging }>(next)
      found.push(...answer[list]!)
      next = answer.paging.next
    }
    return found
  }

  /** As `get`. @param onWarning receives the server's warning, if any. */
  post<T>(path: string, body: object, onWarning?: (warning: string) => void): Promise<T> {
    return this.send('POST', path, body, onWarning)
  }

  /** As `post`, for calls that may take as long as a test. */
  test<T>(path: string, body: object): Promise<T> {
    return this.send('POST', path, body, undefined, TEST_TIMEOUT_MS)
  }

  /** As `post`; an answer without a body is undefined. */
  async send<T>(
    method: string,
    path: string,
    body?: object,
    onWarning?: (warning: string) => void,
    timeoutMs = TIMEOUT_MS,
  ): Promise<T> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const { response, text } = await this.#answer(path, { method, headers: this.#headers(path), ...sent }, timeoutMs)
    if (!response.ok) throw this.#answerError(response.status, text)
    const warning = response.headers.get('x-millrace-warning')
    if (warning !== null) onWarning?.(warning)
    return (response.status === 204 ? undefined : parseAnswer(text, this.url)) as T
  }

  /**
   * Messages of a `text/event-stream`, until it ends or is silent for so long that the connection must be lost.
   *
   * @param onOpen called when the server has begun to answer.
   * @throws CommandError, AnswerError like `get`.
   */
  async *listen(path: string, signal: AbortSignal, onOpen: () => void): AsyncGenerator<ServerEvent> {
    const silence = new Silence(this.#io.clock)
    const headers = { ...this.#headers(path), accept: 'text/event-stream' }
    try {
      const response = await this.#fetch(path, { headers, signal: AbortSignal.any([signal, silence.signal]) })
      if (!response.ok) throw this.#answerError(response.status, await response.text())
      onOpen()
      yield* serverEvents(silence.brokenBy(response.body!))
    } catch (error) {
      throw error instanceof CommandError ? error : unreachable(this.url, error as Error)
    } finally {
      silence.end()
    }
  }

  /** Posts events with a write key. @returns the text of the answer. */
  async postEvents(path: string, writeKey: string, body: string): Promise<string> {
    const headers = { authorization: `Basic ${base64(`${writeKey}:`)}`, 'content-type': 'application/json' }
    const { response, text: answer } = await this.#answer(path, { method: 'POST', headers, body })
    const text = oneLine(answer)
    if (response.ok) return text
    const index = response.headers.get('x-millrace-event-index')
    const which = index === null ? '' : ` (event ${index} of the batch, counted from 0)`
    throw new AnswerError(
      response.status,
      `Not accepted: ${response.status} ${text}${which}`,
      response.status === 401 ? 'Check the write key: each source shows its own.' : undefined,
    )
  }

  /** The whole answer; on a terminal it shows what it waits for. */
  #answer(path: string, init: RequestInit, timeoutMs?: number): Promise<{ response: Response; text: string }> {
    const answer = async () => {
      const response = await this.#fetch(path, init, timeoutMs)
      const text = await response.text().catch((error: Error) => {
        throw unreachable(this.url, error, timeoutMs)
      })
      return { response, text }
    }
    return during(`waiting for ${this.url}`, this.#io, answer())
  }

  async #fetch(path: string, init: RequestInit, timeoutMs = TIMEOUT_MS): Promise<Response> {
    try {
      const { signal = AbortSignal.timeout(timeoutMs) } = init
      return await fetch(this.url + path, { ...init, redirect: 'manual', signal })
    } catch (error) {
      throw unreachable(this.url, error as Error, timeoutMs)
    }
  }

  #headers(path: string): Record<string, string> {
    if (this.#authorization === undefined) {
      throw new CommandError(`No access token for ${this.url}: ${this.#withoutToken}.`, TOKEN_ADVICE)
    }
    // For the schema API, Basic means its own user and password.
    const isSchema = path.startsWith('/schemas/')
    return { authorization: isSchema ? `Bearer ${this.#token}` : this.#authorization, accept: 'application/json' }
  }

  #answerError(status: number, text: string): AnswerError {
    const said = errorText(text)
    if (status === 401 || said === WRONG_CREDENTIALS)
      return new AnswerError(status, `${this.url} rejected ${this.#tokenName}: ${status} ${said}`, TOKEN_ADVICE)
    if (status === 403) return new AnswerError(status, `The role of this token is too low: 403 ${said}`)
    return new AnswerError(status, `${this.url} answered ${status} ${said}`, undefined, saidIn(text))
  }
}

/** The server sends something at least every 15 s. */
const MAX_SILENT_MS = 45_000

/** Aborts after a long silence. */
class Silence {
  readonly #clock: Clock
  readonly #abort = new AbortController()
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    this.#wait()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  async *brokenBy(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#wait()
      yield chunk
    }
  }

  end(): void {
    this.#timer?.cancel()
  }

  #wait(): void {
    this.#timer?.cancel()
    this.#timer = this.#clock.setTimer(() => this.#abort.abort(), MAX_SILENT_MS)
  }
}

/** The schema API answers 400 instead. */
const WRONG_CREDENTIALS = 'Invalid admin credentials'
const TOKEN_ADVICE =
  "Use --token or MILLRACE_TOKEN. The first start printed the owner's token, unless MILLRACE_OWNER_TOKEN set it."

function authorizationOf({ email, token }: { email?: string | undefined; token: string | undefined }) {
  if (token === undefined) return undefined
  return email === undefined ? `Bearer ${token}` : `Basic ${base64(`${email}:${token}`)}`
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The token that the server wrote for this machine; it is sent only to a server on this machine. */
function localToken(url: string, env: CommandIo['env']): { token?: string; file?: string; why: string } {
  let settings: Settings
  try {
    settings = loadSettings(env)
  } catch {
    return { why: 'none is given, and the data folder of this machine is unknown' }
  }
  if (!isOnThisMachine(url, settings)) return { why: 'none is given' }
  const file = join(settings.dataDir, TOKEN_FILE)
  try {
    const token = readFileSync(file, 'utf8').trim()
    return /^[!-9;-~]+$/.test(token) ? { token, file, why: '' } : { why: `none is given, and ${file} holds no token` }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return { why: `none is given, and ${file} ${isMissing ? 'does not exist' : 'cannot be read'}` }
  }
}

function isOnThisMachine(url: string, { host }: Settings): boolean {
  const { hostname } = new URL(url)
  const address = hostname.replace(/^\[|\]$/g, '')
  const isLoopback = address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
  return isLoopback || address === host
}

function errorText(body: string): string {
  const { text, details } = saidIn(body)
  // Other answers are shown as they are.
  if (text === '') return oneLine(body)
  return oneLine(details ? `${text} ${JSON.stringify(details)}` : text)
}

function saidIn(body: string): Said {
  try {
    const { error, message, msg, details } = JSON.parse(body) as Record<string, unknown>
    // The Test API says `message`, the schema catalog `msg`.
    const text = error ?? message ?? msg
    if (typeof text === 'string') return { text, details }
  } catch {
    // Possibly of a proxy.
  }
  return { text: '', details: undefined }
}

function parseAnswer(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError(`${url} did not answer with JSON.`, 'Is this the address of Millrace?')
  }
}

function unreachable(url: string, error: Error, timeoutMs = TIMEOUT_MS): CommandError {
  if (error.name === 'TimeoutError') return new CommandError(`${url} did not answer within ${timeoutMs / 1000} s.`)
  const cause = error.cause as (Error & { code?: string }) | undefined
  const why = CAUSES[cause?.code ?? ''] ?? oneLine(cause?.message || error.message)
  return new CommandError(
    `Millrace cannot be reached at ${url}: ${why}.`,
    'Start it with: npm start. If it runs elsewhere, use --url or MILLRACE_URL.',
  )
}

const CAUSES: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
}
