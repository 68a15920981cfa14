import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Actor } from '@millrace/control-plane'
import { isSecretHeader, MASK } from '@millrace/destinations'
import { formatTime } from '@millrace/protocol'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { INBOX_IN_WORDS } from './inbox.openapi.ts'

const MAX_KEPT = 100
const MAX_BODY_BYTES = 1024 * 1024

interface Received {
  readonly at: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/**
 * A built-in receiver, so a first delivery needs no other service. The quickstart's webhook posts to a path that cannot
 * be guessed, and GET /inbox/quickstart shows the last 100 requests.
 *
 * @see contracts/control-plane.md §3 [D733]
 */
export class Inbox {
  /** 32 hex digits. */
  readonly #key: string
  readonly #received: Received[] = []

  /** @param file holds the random part of the path; created if it is missing. */
  constructor(file: string) {
    if (!existsSync(file)) writeFileSync(file, `${randomBytes(16).toString('hex')}\n`, { mode: 0o600, flush: true })
    this.#key = readFileSync(file, 'utf8').trim()
  }

  get path(): string {
    return `/inbox/${this.#key}`
  }

  routes(authenticate: (request: FastifyRequest) => Promise<Actor | undefined>, now: () => number): FastifyPluginAsync {
    return async (app) => {
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
        done(null, body),
      )
      app.get('/inbox/quickstart', { config: { describe: INBOX_IN_WORDS.show } }, async (request, reply) => {
        if ((await authenticate(request)) === undefined) {
          reply.code(401).header('WWW-Authenticate', 'Bearer')
          return { error: 'Invalid Authorization Header', code: 'unauthorized', details: null }
        }
        return { requests: this.#received }
      })
      app.post(this.path, { config: { describe: INBOX_IN_WORDS.receive } }, async (request) => {
        this.#received.unshift({
          at: formatTime(now()),
          method: request.method,
          headers: shownHeaders(request.headers),
          body: parsed(request.body),
        })
        this.#received.length = Math.min(this.#received.length, MAX_KEPT)
        return 'OK'
      })
    }
  }
}

function shownHeaders(headers: FastifyRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name, String(value)) ? MASK : String(value)]),
  )
}

function parsed(body: unknown): unknown {
  try {
    return JSON.parse(String(body))
  } catch {
    return body ?? ''
  }
}
