import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SqliteEventLog } from '@millrace/log'
import { ENRICHMENT_RULES, type EventRecord, messageHash } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import type { Bench } from './bench.ts'
import { indexPlaces, newEvent, writeIndex } from './events.ts'
import { addUnconnectedSource, addWebhookOf, becomesReady, catalogCaughtUp, startProduct } from './product.ts'
import { oncePerBench } from './row.ts'

export interface Stock {
  readonly events: number
  readonly sources: number
  readonly destinations: number
  readonly models: number
  /** Versions of each model. A source has one model, or none. */
  readonly shapes: number
}

const FULL: Stock = { events: 10_000_000, sources: 1_000, destinations: 500, models: 200, shapes: 20 }
const SMALL: Stock = { events: 100_000, sources: 50, destinations: 25, models: 20, shapes: 20 }
const EVENTS_OF_RECORD = 100
/** Appended and not yet answered, so that commits are full. */
const RECORDS_TOGETHER = 64
/** Of 10 million events the first start reads every one for its index of messageIds. */
const FIRST_START_MS = 900_000

/**
 * A data folder with all that, made by the product itself but for the events, which are put into the log as the gateway would
 * have put them; the product then counts and indexes them. Made once, and gone with the bench.
 */
export const stockOf = oncePerBench(async (bench: Bench): Promise<Stock & { readonly dataFolder: string }> => {
  const stock = bench.isSmall ? SMALL : FULL
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'millrace-bench-stock-'))
  process.on('exit', () => rmSync(dataFolder, { recursive: true, force: true }))
  const sourceIds: string[] = []
  {
    await using product = await startProduct({ dataFolder })
    for (let i = 0; i < stock.sources; i++) sourceIds.push(await addUnconnectedSource(product))
  }
  console.error(`storing ${stock.events} events …`)
  await fillLog(path.join(dataFolder, 'log'), stock, sourceIds)
  console.error('having them indexed and counted …')
  {
    await using product = await startProduct({ dataFolder, startTimeoutMs: FIRST_START_MS })
    await becomesReady(product)
    await catalogCaughtUp(product)
    for (let i = 0; i < stock.destinations; i++) {
      await addWebhookOf(product, sourceIds[i % sourceIds.length]!, bench.spareUrl)
    }
  }
  // Gigabytes that the system has still to write would slow down whoever is measured first.
  execFileSync('sync')
  return { ...stock, dataFolder }
})

async function fillLog(directory: string, { events, models, shapes }: Stock, sourceIds: readonly string[]) {
  await using log = await SqliteEventLog.open({ directory, clock: systemClock })
  const templates = Array.from({ length: models }, (_, model) => templateOf(model, shapes))
  const records = events / EVENTS_OF_RECORD
  let next = 0
  const appending = Array.from({ length: RECORDS_TOGETHER }, async () => {
    while (next < records) {
      const number = next++
      // One model after the other, as if each had had its day: the catalog keeps at hand what is counted now.
      const model = Math.floor((number * models) / records)
      await log.append(0, 'live', recordOf(templates[model]!, number, sourceIds[model % sourceIds.length]!))
    }
  })
  await Promise.all(appending)
}

interface Template {
  readonly body: Buffer
  readonly places: readonly number[]
}

/** A batch of events of a model, of its versions in turns. */
function templateOf(model: number, shapes: number): Template {
  const batch = Array.from({ length: EVENTS_OF_RECORD }, (_, i) => {
    return { ...newEvent({ run: 0 }, i, i, i % shapes), event: `Event ${model}` }
  })
  const body = Buffer.from(JSON.stringify({ batch }))
  return { body, places: indexPlaces(body) }
}

function recordOf(template: Template, number: number, sourceId: string): EventRecord {
  const body = Buffer.from(template.body)
  const messageHashes = template.places.map((place, i) => {
    writeIndex(body, place, number * EVENTS_OF_RECORD + i)
    return messageHash(body.toString('latin1', place - 24, place + 12))
  })
  const header = {
    sourceId,
    route: 'batch' as const,
    acceptedAt: systemClock.now(),
    clientAddress: '127.0.0.1',
    seed: new Uint8Array(16),
    rules: ENRICHMENT_RULES,
    policySet: 0,
    messageHashes: Buffer.concat(messageHashes),
  }
  return { header, body }
}
