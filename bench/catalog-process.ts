import { setTimeout as delay } from 'node:timers/promises'
import { type CatalogRun, DestinationCatalog, type HostAnswer } from '@millrace/destination-catalog'
import type { JsonObject } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { answerCalls } from './callable-process.ts'
import { newEvent } from './events.ts'

/* Runs entries of the destination catalog as the server does, without the server around them. */

/** A mapping for every track, by type. */
const CONFIGS: Readonly<Record<CatalogEntryName, JsonObject>> = {
  CATALOG_AMPLITUDE: {
    apiKey: 'key-of-amplitude',
    secretKey: 'secret-of-amplitude',
    endpoint: 'north_america',
    subscriptions: [mapping('logEventV2')],
  },
  CATALOG_BRAZE: {
    api_key: 'key-of-braze',
    app_id: 'app',
    endpoint: 'https://rest.iad-01.braze.com',
    subscriptions: [mapping('trackEvent')],
  },
  CATALOG_WEBHOOK: { subscriptions: [{ ...mapping('send'), mapping: { url: 'https://vendor.example/in' } }] },
}
export type CatalogEntryName = 'CATALOG_AMPLITUDE' | 'CATALOG_BRAZE' | 'CATALOG_WEBHOOK'

/** Calls under way at a time. */
const AT_A_TIME = 50
const KEPT_AFTER_MS = 5_000
const ANSWER: HostAnswer = {
  status: 200,
  statusText: 'OK',
  headers: { 'content-type': 'application/json' },
  body: '{}',
}

/** What acceptance adds. */
const ACCEPTED = { receivedAt: '2026-03-04T09:15:28.500Z', timestamp: '2026-03-04T09:15:27.220Z' }

const logger = { debug: () => {}, warn: (fields: object, text: string) => console.error(text, fields) }
const catalog = new DestinationCatalog({ clock: systemClock, logger })
let run = 0

const calls = {
  /** From the call to what the first event becomes. */
  async firstUse(name: CatalogEntryName): Promise<{ wallMs: number; cpuMs: number }> {
    const [since, before] = [performance.now(), process.cpuUsage()]
    await transform(name, 0)
    const { user, system } = process.cpuUsage(before)
    return { wallMs: performance.now() - since, cpuMs: (user + system) / 1_000 }
  },

  /** Resolves when the worker has kept its compiled code, which it does three seconds after its start. */
  keepCompiled: () => delay(KEPT_AFTER_MS),

  /** Events per second of CPU time, of this process with the worker of the catalog. */
  async perCore({ names, events, isDelivery }: CatalogLoad): Promise<number> {
    run++
    const before = process.cpuUsage()
    for (let at = 0; at < events; at += AT_A_TIME) {
      const work = isDelivery ? deliver : transform
      await Promise.all(Array.from({ length: AT_A_TIME }, (_, i) => work(names[(at + i) % names.length]!, at + i)))
    }
    const { user, system } = process.cpuUsage(before)
    return events / ((user + system) / 1e6)
  },
}

export type CatalogCalls = typeof calls

export interface CatalogLoad {
  /** In turn. */
  readonly names: readonly CatalogEntryName[]
  readonly events: number
  /** Each request is answered at once; else nothing is sent. */
  readonly isDelivery: boolean
}

answerCalls(calls)

async function transform(name: CatalogEntryName, at: number): Promise<void> {
  const made = await catalog.transform(name, eventAt(at), runOf(name))
  if (made.kind === 'failed') throw new Error(made.text)
}

async function deliver(name: CatalogEntryName, at: number): Promise<void> {
  const event = eventAt(at)
  const [mapping] = catalog.matching(name, event, CONFIGS[name])
  const outcome = await catalog.deliver(name, event, mapping!, runOf(name), async () => ANSWER, 0)
  if (outcome.kind !== 'delivered') throw new Error(outcome.text)
}

function runOf(name: CatalogEntryName): CatalogRun {
  return { destinationId: name, config: CONFIGS[name], userAgent: 'Millrace/bench', isUserAgentAdded: false }
}

function eventAt(at: number): JsonObject {
  return { ...newEvent({ run }, at, at), ...ACCEPTED } as JsonObject
}

function mapping(action: string): JsonObject {
  return { action, base: 'default', trigger: 'type = "track"' }
}
