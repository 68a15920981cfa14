import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isBodyHeldBack } from '@millrace/std'
import type { CatalogStatus, SchemaCatalog } from '../schema-catalog.ts'
import { CatalogUnavailableError, type ListPage, type PlaceInList, type SourceChoice } from '../thread/catalog-calls.ts'
import { parseSchemaPath, SCHEMA_PREFIX, type SchemaPath } from './schema-paths.ts'

const MAX_LIMIT = 1_000
const SHOWN_ID = 200

/** What becomes of the credentials of a request. */
export type CredentialCheck = 'good' | 'missing' | 'wrong'

export interface SchemaRoutesOptions {
  readonly catalog: Pick<SchemaCatalog, 'ask' | 'status'>
  /** Late, when the address has failed often. */
  readonly checkCredentials: (request: IncomingMessage) => Promise<CredentialCheck>
  /** The source that a write key belongs to now, grace included. */
  readonly sourceOfKey: (writeKey: string) => { readonly id: string } | undefined
  readonly onError: (error: Error) => void
}

/**
 * The routes below /schemas/, answered as they are written: path, method, credentials, parameters and look-up are
 * checked in this order, every error is `{"msg": text}` and a newline.
 *
 * @see contracts/schema-catalog.md §1 to §3
 */
export class SchemaRoutes {
  readonly #options: SchemaRoutesOptions

  constructor(options: SchemaRoutesOptions) {
    this.#options = options
  }

  /** @returns false for a path that is not below /schemas/. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    if (!request.url!.startsWith(SCHEMA_PREFIX)) return false
    // A body is ignored; one that is held back would be taken for the next request.
    if (isBodyHeldBack(request)) response.writeContinue()
    request.resume()
    this.#answer(request, response).catch((error: Error) => {
      if (!(error instanceof CatalogUnavailableError)) this.#options.onError(error)
      if (response.headersSent) response.destroy()
      else refuse(response, request, 503, 'Service unavailable', { 'Retry-After': '1' })
    })
    return true
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = request.url!.indexOf('?')
    const path = parseSchemaPath(at < 0 ? request.url! : request.url!.slice(0, at))
    if (path.kind === 'unreadable') return refuse(response, request, 400, 'Invalid request path')
    if (path.kind === 'unknown') return refuse(response, request, 404, 'Not Found')
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(response, request, 405, 'Only HTTP GET method is supported', { Allow: 'GET, HEAD' })
    }
    const credentials = await this.#options.checkCredentials(request)
    if (credentials !== 'good') return refuse(response, request, 400, CREDENTIAL_TEXTS[credentials])
    await this.#lookUp(path, new URLSearchParams(at < 0 ? '' : request.url!.slice(at)), request, response)
  }

  async #lookUp(
    path: Exclude<SchemaPath, { kind: 'unknown' | 'unreadable' }>,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { catalog } = this.#options
    const list = listOf(query)
    switch (path.kind) {
      case 'event-models': {
        if (typeof list === 'string') return refuse(response, request, 400, list)
        const source = this.#sourceOf(query)
        const hasExtras = query.get('extras') === 'true'
        return sendList(request, response, list, (part) => catalog.ask('models', { ...part, source, hasExtras }))
      }
      case 'event-versions': {
        const eventId = query.get('EventID')
        if (eventId === null) return refuse(response, request, 400, 'Mandatory field: EventID missing')
        if (typeof list === 'string') return refuse(response, request, 400, list)
        return sendList(request, response, list, (part) => catalog.ask('versions', { ...part, eventId }))
      }
      case 'json-schemas': {
        const source = this.#sourceOf(query)
        const ask = (part: Part) => catalog.ask('jsonSchemas', { ...part, source })
        const first = await firstPage(ask)
        if (first === undefined) {
          return refuse(response, request, 404, 'No event models exists to create a tracking plan.')
        }
        return sendList(request, response, EVERYTHING, ask, first)
      }
      case 'status':
        return sendText(request, response, 200, JSON.stringify(statusJson(await catalog.status())))
      case 'model-metadata': {
        const text = await catalog.ask('modelMetadata', path.id)
        return sendFound(request, response, text, `No Metadata found for given EventID : ${shown(path.id)}`)
      }
      case 'version-metadata': {
        const text = await catalog.ask('versionMetadata', path.id)
        return sendFound(request, response, text, `No Metadata found for given VersionID : ${shown(path.id)}`)
      }
      case 'key-counts':
        return sendText(request, response, 200, (await catalog.ask('keyCounts', path.id)) ?? '{}')
      case 'missing-keys': {
        const text = await catalog.ask('missingKeys', path.id)
        return sendFound(request, response, text, `No SchemaVersion found for given VersionID : ${shown(path.id)}`)
      }
      default:
        path satisfies never
        throw new Error('a path below /schemas/ has no answer')
    }
  }

  #sourceOf(query: URLSearchParams): SourceChoice | undefined {
    const writeKey = query.get('WriteKey')
    if (writeKey === null || writeKey === '') return undefined
    const source = this.#options.sourceOfKey(writeKey)
    return source === undefined ? { lastKey: writeKey } : { id: source.id }
  }
}

const CREDENTIAL_TEXTS = { missing: 'Basic auth credentials missing', wrong: 'Invalid admin credentials' }
const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}
const EVERYTHING = { limit: undefined, offset: 0 }

interface ListPart {
  /** Undefined: everything. */
  readonly limit: number | undefined
  readonly offset: number
}

interface Part {
  readonly after: PlaceInList | undefined
  readonly limit: number
  readonly offset: number
}

/** @returns what is wrong with it, as a text, or the part of a list that is asked for. */
function listOf(query: URLSearchParams): ListPart | string {
  const limit = query.get('limit')
  const offset = query.get('offset') ?? '0'
  const isLimit = limit === null || (/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT)
  if (!isLimit) return 'Invalid limit'
  if (!/^\d{1,15}$/.test(offset)) return 'Invalid offset'
  return { limit: limit === null ? undefined : Number(limit), offset: Number(offset) }
}

/** The first page that has anything in it. */
async function firstPage(ask: (part: Part) => Promise<ListPage>): Promise<ListPage | undefined> {
  let page = await ask({ after: undefined, limit: -1, offset: 0 })
  while (page.count === 0 && page.after !== undefined) page = await ask({ after: page.after, limit: -1, offset: 0 })
  return page.count === 0 ? undefined : page
}

/** Writes a list page by page, as fast as it is read; the next one is made meanwhile. */
async function sendList(
  request: IncomingMessage,
  response: ServerResponse,
  { limit, offset }: ListPart,
  ask: (part: Part) => Promise<ListPage>,
  known?: ListPage,
): Promise<void> {
  let page = known ?? (await ask({ after: undefined, limit: limit ?? -1, offset }))
  response.writeHead(200, HEADERS)
  if (request.method === 'HEAD') return void response.end()
  let left = limit ?? Number.POSITIVE_INFINITY
  let separator = '['
  for (;;) {
    left -= page.count
    const isLast = page.after === undefined || left <= 0
    const rest = left === Number.POSITIVE_INFINITY ? -1 : left
    const next = isLast ? undefined : ask({ after: page.after, limit: rest, offset: 0 })
    // Whoever has gone away is told of no failure.
    next?.catch(() => {})
    let isRead = true
    if (page.count > 0) {
      response.write(separator)
      isRead = response.write(page.bytes)
      separator = ','
    }
    if (next === undefined) break
    if (!isRead) await drainOrClose(response)
    if (response.destroyed) return
    page = await next
  }
  response.end(separator === '[' ? '[]' : ']')
}

/** Leaves no listener behind: a list has any number of pages. */
async function drainOrClose(response: ServerResponse): Promise<void> {
  const end = new AbortController()
  const { signal } = end
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  end.abort()
}

function sendFound(request: IncomingMessage, response: ServerResponse, text: string | undefined, missing: string) {
  if (text === undefined) refuse(response, request, 404, missing)
  else sendText(request, response, 200, text)
}

function refuse(
  response: ServerResponse,
  request: IncomingMessage,
  status: number,
  msg: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(request, response, status, `${JSON.stringify({ msg })}\n`, headers)
}

function sendText(
  { method }: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...HEADERS, ...headers, 'Content-Length': Buffer.byteLength(text) })
  response.end(method === 'HEAD' ? undefined : text)
}

function statusJson({ lagEvents, lagSeconds, positions, sources }: CatalogStatus) {
  return {
    LagEvents: lagEvents,
    LagSeconds: lagSeconds,
    Positions: positions,
    Sources: sources.map(({ writeKey, models, cut }) => ({ WriteKey: writeKey, Models: models, Cut: cut })),
  }
}

function shown(id: string): string {
  return id.slice(0, SHOWN_ID)
}
