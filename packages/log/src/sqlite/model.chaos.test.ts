import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { noteOf, readAll, testRecord } from '../conformance.ts'
import { type LogWriter, STREAMS, type Stream, type Tally } from '../event-log.ts'
import { MemoryEventLog } from '../memory/memory-event-log.ts'
import { LogFolders, openLog } from './log-folders.ts'
import type { SqliteEventLog } from './sqlite-event-log.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

type Step =
  | { readonly kind: 'append'; readonly records: readonly { source: number; stream: Stream; events: number }[] }
  | { readonly kind: 'read'; readonly stream: Stream; readonly from: number; readonly maxBytes: number }
  | { readonly kind: 'get'; readonly offsets: readonly number[] }
  | { readonly kind: 'tally'; readonly stream: Stream; readonly from: number; readonly length: number }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'crash' }

const stream = fc.constantFrom(...STREAMS)
const offset = fc.nat({ max: 60 })
const record = fc.record({ source: fc.nat({ max: 3 }), stream, events: fc.integer({ min: 1, max: 80 }) })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('append'), records: fc.array(record, { minLength: 1, maxLength: 8 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('read'), stream, from: offset, maxBytes: fc.nat({ max: 20_000 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('get'), offsets: fc.array(offset, { maxLength: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tally'), stream, from: offset, length: offset }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash') }) },
) as fc.Arbitrary<Step>

/** The SQLite log beside the one in memory: whatever is done to both, both say the same. */
class Pair {
  readonly model = new MemoryEventLog()
  readonly #options: { segmentBytes: number; cacheBytes: number }
  #directory = folders.create()
  #real: SqliteEventLog | undefined
  #count = 0

  constructor(options: { segmentBytes: number; cacheBytes: number }) {
    this.#options = options
  }

  async run(step: Step): Promise<void> {
    const real = await this.real()
    switch (step.kind) {
      case 'append': {
        const appended = (log: LogWriter) =>
          Promise.all(
            step.records.map(({ source, stream, events }, i) =>
              log.append(0, stream, testRecord(`source-${source}`, `${this.#count + i}`, events)),
            ),
          )
        expect(await appended(real)).toEqual(await appended(this.model))
        this.#count += step.records.length
        break
      }
      case 'read': {
        const [ours, theirs] = await Promise.all(
          [real, this.model].map((log) => readAll(log, 0, step.stream, step.from, step.maxBytes)),
        )
        expect(ours!.map((found) => [found.offset, noteOf(found)])).toEqual(
          theirs!.map((found) => [found.offset, noteOf(found)]),
        )
        break
      }
      case 'get': {
        const [ours, theirs] = await Promise.all([real, this.model].map((log) => log.get(0, step.offsets)))
        expect(ours!.map(noteOf)).toEqual(theirs!.map(noteOf))
        break
      }
      case 'tally': {
        const range = { from: step.from, to: step.from + step.length }
        const events = (tally: Tally) => new Map([...tally].map(([source, sum]) => [source, sum.events]))
        const [ours, theirs] = await Promise.all([real, this.model].map((log) => log.tally(0, step.stream, range)))
        expect(events(ours!)).toEqual(events(theirs!))
        break
      }
      case 'reopen':
        await this.close()
        break
      case 'crash': {
        // What lies on the disk at this moment is what a killed process leaves.
        const left = folders.copy(this.#directory)
        await this.close()
        this.#directory = left
        break
      }
    }
    expect((await this.real()).end(0)).toBe(this.model.end(0))
    expect(await (await this.real()).oldest(0)).toEqual(await this.model.oldest(0))
  }

  async real(): Promise<SqliteEventLog> {
    this.#real ??= await openLog(this.#directory, this.#options)
    return this.#real
  }

  async close(): Promise<void> {
    await this.#real?.[Symbol.asyncDispose]()
    this.#real = undefined
  }
}

// A failure prints its seed and the steps that lead to it.
test('whatever is appended, read, closed and killed in whatever order, the log is the one in memory', async () => {
  const options = fc.constantFrom(
    { segmentBytes: 60_000, cacheBytes: 0 },
    { segmentBytes: 2 ** 30, cacheBytes: 30_000 },
    { segmentBytes: 60_000, cacheBytes: 10_000 },
  )
  const property = fc.asyncProperty(
    options,
    fc.array(step, { minLength: 5, maxLength: 20 }),
    async (setting, steps) => {
      const pair = new Pair(setting)
      try {
        for (const step of steps) await pair.run(step)
        for (const stream of STREAMS) await pair.run({ kind: 'read', stream, from: 0, maxBytes: 5_000 })
      } finally {
        await pair.close()
      }
    },
  )
  await fc.assert(property, { numRuns: 8 })
})
