import type { JsonObject } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { DEFAULT_LIMITS, type Run, Sandboxes } from '@millrace/transformations'
import { newEvent } from '../events.ts'
import { cpuMs } from '../process-usage.ts'

/*
 * What a user transformation costs by itself, without the product around it: CPU of the server and its child together,
 * for events of 0.8 KB in batches of 100.
 *
 *     node bench/transformations/main.ts
 */

const BATCHES = 300
const ROUNDS = 5

const codes: Readonly<Record<string, string>> = {
  'passes it on': 'export const transformEvent = (event) => event',
  'edits it': `export function transformEvent(event, metadata) {
    event.properties.priceCents = Math.round(event.properties.price * 100)
    event.context = { ...event.context, via: metadata(event).sourceName }
    return event
  }`,
  'edits it, async': `export async function transformEvent(event) {
    event.properties.priceCents = Math.round(event.properties.price * 100)
    return event
  }`,
  'edits the batch': `export function transformBatch(events) {
    for (const event of events) event.properties.priceCents = Math.round(event.properties.price * 100)
    return events
  }`,
  'hashes a member': `export function transformEvent(event) {
    event.userId = hash.sha256(event.userId)
    return event
  }`,
  'drops it': 'export const transformEvent = () => null',
}

const logger = { info() {}, warn() {}, error() {} }
const transformations = new Sandboxes({ limits: DEFAULT_LIMITS, fetch: undefined, clock: systemClock, logger })
const metadata: JsonObject = {
  sourceId: 's',
  sourceName: 'Shop',
  workspaceId: 'w',
  destinationId: 'd',
  destinationName: 'Hook',
}
const events = Array.from({ length: 100 }, (_, at) => {
  return { event: newEvent({ run: 1 }, at, at) as JsonObject, metadata, jobId: String(at) }
})

console.log('                      CPU µs/event   ms/batch')
for (const [name, code] of Object.entries(codes)) {
  const steps = [{ transformationId: name, versionId: name, language: 'javascript', code, libraries: [] } as const]
  const run: Run = { key: name, steps, events, mode: 'live', credentials: new Map(), captureLogs: false }
  await repeat(run)
  const rounds: { cpuMicros: number; batchMs: number }[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await measured(run))
  const median = (of: (round: (typeof rounds)[number]) => number) => rounds.map(of).sort((a, b) => a - b)[ROUNDS >> 1]!
  const [cpu, wall] = [median(({ cpuMicros }) => cpuMicros), median(({ batchMs }) => batchMs)]
  console.log(`${name.padEnd(20)}  ${cpu.toFixed(1).padStart(12)}   ${wall.toFixed(2).padStart(8)}`)
}
await transformations.close()

async function measured(run: Run): Promise<{ cpuMicros: number; batchMs: number }> {
  const [cpu, started] = [cpuMs(process.pid), performance.now()]
  await repeat(run)
  return {
    cpuMicros: ((cpuMs(process.pid) - cpu) * 1_000) / (BATCHES * events.length),
    batchMs: (performance.now() - started) / BATCHES,
  }
}

async function repeat(run: Run): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    const { results } = await transformations.run(run)
    if (results.some((result) => 'error' in result)) throw new Error(`${run.key} failed`)
  }
}
