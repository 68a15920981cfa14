import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { FailureBrake } from '@millrace/control-plane'
import type { CredentialCheck } from '@millrace/schema-catalog'
import { type Clock, Deadlines } from '@millrace/std'

const DEFAULT_USER = 'admin'
const FAILURE_DELAY_MS = 1_000
const GENERATED = /^[0-9a-f]{64}$/

export interface AdminCredentialsOptions {
  readonly user: string | undefined
  readonly password: string | undefined
  /** Stores the digest of a generated password. */
  readonly file: string
  readonly clock: Clock
  /** Whether the personal access token or session of a request is valid; delayed if its address has failed often. */
  readonly isUser: (request: IncomingMessage) => Promise<boolean>
  /** Whether a request contains a session of the dashboard, valid or not. */
  readonly carriesSession: (request: IncomingMessage) => boolean
  /** The address by which limits count a request. */
  readonly addressOf: (request: IncomingMessage) => string
}

/**
 * The credentials of the schema API: SERVICE_ADMIN_USER and SERVICE_ADMIN_PASSWORD, or generated ones.
 *
 * @see contracts/schema-catalog.md §2 [D7]
 */
export class AdminCredentials {
  readonly user: string
  /** A password that was just generated and is shown once. */
  readonly madePassword: string | undefined
  readonly #userDigest: Buffer
  readonly #passwordDigest: Buffer
  readonly #options: AdminCredentialsOptions
  readonly #brake: FailureBrake
  readonly #delays: Deadlines

  constructor(options: AdminCredentialsOptions) {
    this.#options = options
    this.user = options.user ?? DEFAULT_USER
    this.#userDigest = digest(this.user)
    const kept = options.password === undefined ? readDigest(options.file) : undefined
    if (options.password === undefined && kept === undefined) this.madePassword = randomBytes(24).toString('base64url')
    this.#passwordDigest = kept ?? digest(options.password ?? this.madePassword!)
    this.#brake = new FailureBrake(options.clock)
    this.#delays = new Deadlines(options.clock, FAILURE_DELAY_MS)
  }

  /** Call it after showing `madePassword`; until then every start generates a new one. */
  confirmShown(): void {
    if (this.madePassword === undefined) return
    writeFileSync(this.#options.file, `${this.#passwordDigest.toString('hex')}\n`, { mode: 0o600, flush: true })
  }

  async check(request: IncomingMessage): Promise<CredentialCheck> {
    const { authorization } = request.headers
    const bearer = /^Bearer +\S+ *$/i.test(authorization ?? '')
    const session = authorization === undefined && this.#options.carriesSession(request)
    if (bearer || session) return (await this.#options.isUser(request)) ? 'good' : 'wrong'
    const given = basicCredentials(authorization)
    if (given === undefined) return 'missing'
    // Always compares both: the duration reveals nothing about either.
    const isUser = timingSafeEqual(digest(given.user), this.#userDigest)
    const isPassword = timingSafeEqual(digest(given.password), this.#passwordDigest)
    if (isUser && isPassword) return 'good'
    const isBraked = this.#brake.fail(this.#options.addressOf(request))
    if (isBraked) await new Promise<void>((resolve) => this.#delays.start(resolve))
    return 'wrong'
  }

  close(): void {
    this.#delays.close()
  }
}

function basicCredentials(authorization: string | undefined): { user: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

function readDigest(file: string): Buffer | undefined {
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8').trim()
  return GENERATED.test(text) ? Buffer.from(text, 'hex') : undefined
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
