import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { loadClientSettings, loadSettings, type Settings } from '../config/settings.ts'
import { CommandError, type CommandIo } from './command-io.ts'
import { oneLine } from './paint.ts'

/** Options of every command that talks to a server; they go before the environment. */
export interface ServerOptions {
  readonly url?: string
  readonly email?: string
  readonly token?: string
}

/** A route's answer that was not the one hoped for. */
export class AnswerError extends CommandError {
  readonly status: number

  constructor(status: number, message: string, advice?: string) {
    super(message, advice)
    this.status = status
  }
}

const TIMEOUT_MS = 30_000
/** Written by the server, for the commands on its own machine. */
const TOKEN_FILE = 'cli-token'

/**
 * Calls the routes of a server.
 *
 * @see contracts/control-plane.md §10
 */
export class ServerApi {
  readonly url: string
  readonly #authorization: string | undefined
  readonly #withoutToken: string

  /** @throws SettingsError */
  constructor(options: ServerOptions, { env }: Pick<CommandIo, 'env'>) {
    const settings = loadClientSettings(env)
    this.url = options.url ?? settings.url
    const given = { email: options.email ?? settings.email, token: options.token ?? settings.token }
    const local = given.token === undefined ? localToken(this.url, env) : undefined
    this.#authorization = authorizationOf(given.token === undefined ? { token: local?.token } : given)
    this.#withoutToken = local?.why ?? ''
  }

  /** @throws CommandError whatever goes wrong; AnswerError if the server answered with something else than success. */
  get<T>(path: string): Promise<T> {
    return this.send('GET', path)
  }

  /** As `get`; an answer without a body is undefined. */
  async send<T>(method: string, path: string, body?: object): Promise<T> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await this.#fetch(path, { method, headers: this.#headers(), ...sent })
    const text = await response.text()
    if (!response.ok) throw this.#answerError(response.status, text)
    return (response.status === 204 ? undefined : parseAnswer(text, this.url)) as T
  }

  /** Posts events with a write key. @returns the text of the answer. */
  async postEvents(path: string, writeKey: string, body: string): Promise<string> {
    const headers = { authorization: `Basic ${base64(`${writeKey}:`)}`, 'content-type': 'application/json' }
    const response = await this.#fetch(path, { method: 'POST', headers, body })
    const text = oneLine(await response.text())
    if (response.ok) return text
    const index = response.headers.get('x-millrace-event-index')
    const which = index === null ? '' : ` (event ${index} of the batch, counted from 0)`
    throw new AnswerError(
      response.status,
      `Not accepted: ${response.status} ${text}${which}`,
      response.status === 401 ? 'Check the write key; every source shows its own.' : undefined,
    )
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(this.url + path, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    } catch (error) {
      throw unreachable(this.url, error as Error)
    }
  }

  #headers(): Record<string, string> {
    if (this.#authorization === undefined) {
      throw new CommandError(`No access token for ${this.url}: ${this.#withoutToken}.`, TOKEN_ADVICE)
    }
    return { authorization: this.#authorization, accept: 'application/json' }
  }

  #answerError(status: number, text: string): AnswerError {
    const said = errorText(text)
    if (status === 401)
      return new AnswerError(status, `${this.url} does not know this token: 401 ${said}`, TOKEN_ADVICE)
    if (status === 403) return new AnswerError(status, `The role of this token is too low: 403 ${said}`)
    return new AnswerError(status, `${this.url} answered ${status} ${said}`)
  }
}

const TOKEN_ADVICE = 'Give one with --token or MILLRACE_TOKEN; the first start printed that of the owner.'

function authorizationOf({ email, token }: { email?: string | undefined; token: string | undefined }) {
  if (token === undefined) return undefined
  return email === undefined ? `Bearer ${token}` : `Basic ${base64(`${email}:${token}`)}`
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The token that the server left for this machine; it is shown to nobody but a server on this machine. */
function localToken(url: string, env: CommandIo['env']): { token?: string; why: string } {
  let settings: Settings
  try {
    settings = loadSettings(env)
  } catch {
    return { why: 'none is given, and the settings of this machine do not say where its data folder is' }
  }
  if (!isOnThisMachine(url, settings)) return { why: 'none is given' }
  const file = join(settings.dataDir, TOKEN_FILE)
  try {
    const token = readFileSync(file, 'utf8').trim()
    return /^[!-9;-~]+$/.test(token) ? { token, why: '' } : { why: `none is given, and ${file} holds none` }
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
  try {
    const { error, details } = JSON.parse(body) as { error?: unknown; details?: unknown }
    if (typeof error === 'string') return oneLine(details ? `${error} ${JSON.stringify(details)}` : error)
  } catch {
    // Not one of our answers; what there is of it has to do.
  }
  return oneLine(body)
}

function parseAnswer(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError(`${url} answered with something that is not JSON.`, 'Is that the address of Millrace?')
  }
}

function unreachable(url: string, error: Error): CommandError {
  if (error.name === 'TimeoutError') return new CommandError(`${url} has not answered within ${TIMEOUT_MS / 1000} s.`)
  const cause = error.cause as (Error & { code?: string }) | undefined
  const why = CAUSES[cause?.code ?? ''] ?? oneLine(cause?.message || error.message)
  return new CommandError(
    `Millrace cannot be reached at ${url}: ${why}.`,
    'Start it with: npm start. If it runs elsewhere, name it with --url or MILLRACE_URL.',
  )
}

const CAUSES: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
}
