import { setTimeout } from 'node:timers/promises'
import type { ApiAnswer } from './dev-env.ts'
import { cinemaDocument, cinemaEvents, largeDocument, troubleDocument } from './seed-documents.ts'
import type { Received, SinkAnswer } from './sink.ts'

export const SEEDS = ['empty', 'cinema', 'trouble', 'large'] as const
export type Seed = (typeof SEEDS)[number]

const DEADLINE_MS = 300_000
const ASK_AGAIN_MS = 50
const MAX_IN_BATCH = 500
/** What a breaker, or a destination that refuses credentials, needs to be noticed as such. */
const FAILURES = 30

type Answered = Pick<ApiAnswer, 'status' | 'text' | 'json'>

/** A running product, as far as a seed needs it: a `DevEnv`, or a server that is a process of its own. */
export interface Ground {
  readonly url: string
  /** Where webhooks go. */
  readonly sink: { readonly url: string }
  /** Calls the server as its owner. */
  readonly api: (method: string, path: string, body?: unknown) => Promise<Answered>
  /** Sends to an ingest route. */
  readonly send: (path: string, body: unknown, writeKey: string) => Promise<Answered>
}

export interface LargeSize {
  readonly sources: number
  readonly destinations: number
  /** As many as each of the first twenty destinations gets, times twenty. */
  readonly deadLetters: number
}

export const LARGE: LargeSize = { sources: 1_000, destinations: 500, deadLetters: 100_000 }
/** Each event of the large seed becomes a dead letter at each of these. */
export const REFUSING_DESTINATIONS = 20

/**
 * Fills a product that has just started, through its own routes, and waits until it shows what the seed is for.
 *
 * `empty` nothing; `cinema` a small workspace that works; `trouble` the same beside destinations that rest, refuse the
 * credentials, are behind, off, or have dead letters; `large` what lists and pages have to bear.
 *
 * @see contracts/dashboard.md §4 N12
 */
export async function plant(env: Ground, seed: Seed, size: LargeSize = LARGE): Promise<void> {
  switch (seed) {
    case 'empty':
      return
    case 'cinema':
      await plantCinema(env)
      return
    case 'trouble':
      await plantCinema(env)
      await plantTrouble(env)
      return
    case 'large':
      await plantLarge(env, size)
  }
}

/** How the sink answers what a seed sends: by the path of the destination. */
export function seedAnswer({ path }: Pick<Received, 'path'>): SinkAnswer | Promise<SinkAnswer> {
  if (path.startsWith('/down')) return { status: 503, headers: { 'Content-Type': 'text/plain' }, body: 'maintenance' }
  if (path.startsWith('/locked')) return { status: 401 }
  if (path.startsWith('/refusing')) return { status: 400, body: 'no such hall' }
  // It never answers.
  if (path.startsWith('/silent')) return new Promise(() => {})
  return {}
}

async function plantCinema(env: Ground): Promise<void> {
  await apply(env, cinemaDocument(env.sink.url))
  const keys = await writeKeys(env)
  await sendAll(env, keys.get('cinema-app')!, cinemaEvents('app', 60))
  await sendAll(env, keys.get('cinema-web')!, cinemaEvents('web', 40))
  await until(env, 'everything was delivered', async () => {
    const { delivery } = await get(env, '/v2/delivery')
    return delivery.every(({ pending, delivered24h }: { pending: number; delivered24h: number }) => {
      return pending === 0 && delivered24h > 0
    })
  })
}

async function plantTrouble(env: Ground): Promise<void> {
  await apply(env, troubleDocument(env.sink.url))
  const keys = await writeKeys(env)
  await sendAll(env, keys.get('kiosk')!, cinemaEvents('kiosk', FAILURES))
  // Refused requests: a key that nobody has, a body that is none, a source that is off.
  await env.send('/v1/track', { userId: 'u', event: 'Lost' }, 'unknownWriteKey0123456789')
  await env.send('/v1/batch', { batch: [] }, keys.get('kiosk')!)
  await env.send('/v1/track', { userId: 'u', event: 'Lost' }, keys.get('old-kiosk')!)
  await until(env, 'trouble shows', async () => {
    const { delivery } = await get(env, '/v2/delivery')
    const states = new Set(delivery.map(({ state }: { state: string }) => state))
    const { groups } = await get(env, '/v2/dead-letters/groups')
    return states.has('resting') && states.has('unauthorised') && groups.length > 0
  })
}

async function plantLarge(env: Ground, { sources, destinations, deadLetters }: LargeSize): Promise<void> {
  await apply(env, largeDocument(env.sink.url, sources, destinations, REFUSING_DESTINATIONS))
  const keys = await writeKeys(env)
  // An address that is none is refused before anything is sent.
  const events = cinemaEvents('large', deadLetters / REFUSING_DESTINATIONS).map((event) => {
    return { ...event, fullPath: 'no address' }
  })
  await sendAll(env, keys.get('source-1')!, events)
  await until(env, `${deadLetters} dead letters`, async () => {
    const { groups } = await get(env, '/v2/dead-letters/groups')
    return groups.reduce((sum: number, { count }: { count: number }) => sum + count, 0) >= deadLetters
  })
}

async function apply(env: Ground, document: object): Promise<void> {
  const { revision } = await get(env, '/v2/config')
  const { status, text } = await env.api('POST', '/v2/config/apply', { document, prune: false, revision })
  if (status !== 200) throw new Error(`the configuration was answered ${status}: ${text}`)
}

/** By the keys of their sources. */
async function writeKeys(env: Ground): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let path = '/v2/sources?limit=500'; path !== ''; ) {
    const { sources, paging } = await get(env, path)
    for (const { key, writeKey } of sources) found.set(key, writeKey)
    path = paging.next
  }
  return found
}

async function sendAll(env: Ground, writeKey: string, events: readonly object[]): Promise<void> {
  for (let from = 0; from < events.length; from += MAX_IN_BATCH) {
    const batch = events.slice(from, from + MAX_IN_BATCH)
    const { status, text } = await env.send('/v1/batch', { batch }, writeKey)
    if (status !== 200) throw new Error(`a batch was answered ${status}: ${text}`)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a list
async function get(env: Ground, path: string): Promise<any> {
  const { status, text, json } = await env.api('GET', path)
  if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text}`)
  return json
}

/** Nothing announces it, so this asks again. */
async function until(env: Ground, what: string, isMet: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + DEADLINE_MS; !(await isMet()); await setTimeout(ASK_AGAIN_MS)) {
    if (Date.now() > deadline) throw new Error(`waited ${DEADLINE_MS} ms until ${what} at ${env.url}`)
  }
}
