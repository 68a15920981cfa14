import { setTimeout as delay } from 'node:timers/promises'
import { noteOf, readAll, testRecord } from '../../conformance.ts'
import { LogUnavailableError, type Offset } from '../../event-log.ts'
import type { KafkaEventLog } from '../kafka-event-log.ts'

const PROGRESS_MS = 60_000

interface Acknowledged {
  readonly note: string
  readonly writer: number
  readonly partition: number
  readonly offset: Offset
}

/**
 * Writers that append one record after the other, each to its partition, also while appends fail, and what became of each
 * record.
 */
export class AppendLoad {
  readonly acknowledged: Acknowledged[] = []
  /** Whether they are stored is unknown. */
  readonly unknown = new Set<string>()
  readonly refused = new Set<string>()
  /** Of a single append, in milliseconds. */
  longestMs = 0
  readonly #log: KafkaEventLog
  readonly #name: string
  readonly #writers: Promise<void>[]
  #isOver = false

  /** @param name begins the notes of its records. */
  constructor(log: KafkaEventLog, writers: number, name = '') {
    this.#log = log
    this.#name = name
    const homes = log.partitions / 2
    this.#writers = Array.from({ length: writers }, (_, writer) => this.#write(writer, writer % homes))
  }

  /** Waits for this many more acknowledgements. @throws Error after 60 s. */
  async progress(count: number): Promise<void> {
    const wanted = this.acknowledged.length + count
    for (const deadline = performance.now() + PROGRESS_MS; this.acknowledged.length < wanted; await delay(20)) {
      if (performance.now() > deadline) throw new Error(`${this.acknowledged.length} acknowledged, ${wanted} expected`)
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#writers)
  }

  /** Broken promises of the log about what was appended, as another process's log reads it. */
  async brokenPromises(reader: KafkaEventLog): Promise<string[]> {
    const broken: string[] = []
    const stored = new Map<string, string>()
    for (let partition = 0; partition < reader.partitions / 2; partition++) {
      for (const record of await readAll(reader, partition, 'live', 0, 1_000_000)) {
        const note = noteOf(record)!
        const place = `${partition} ${record.offset}`
        if (stored.has(note)) broken.push(`${note} is stored at ${stored.get(note)} and ${place}`)
        stored.set(note, place)
      }
    }
    for (const { note, partition, offset } of this.acknowledged) {
      const place = `${partition} ${offset}`
      if (stored.get(note) !== place) broken.push(`${note} was acknowledged at ${place} and is at ${stored.get(note)}`)
    }
    for (const own of Map.groupBy(this.acknowledged, ({ writer }) => writer).values()) {
      for (const [i, { note, offset }] of own.entries()) {
        if (i > 0 && offset <= own[i - 1]!.offset) broken.push(`${note} is before ${own[i - 1]!.note}`)
      }
    }
    for (const note of this.refused) if (stored.has(note)) broken.push(`${note} was refused and is stored`)
    return broken
  }

  async #write(writer: number, partition: number): Promise<void> {
    for (let i = 0; !this.#isOver; i++) {
      const note = `${this.#name}${writer}-${i}`
      const startedAt = performance.now()
      try {
        const offset = await this.#log.append(partition, 'live', testRecord(`source-${writer}`, note))
        this.acknowledged.push({ note, writer, partition, offset })
      } catch (error) {
        if (!(error instanceof LogUnavailableError)) throw error
        ;(error.isUnknown ? this.unknown : this.refused).add(note)
        // As a client backs off; the gateway would answer 503 at once.
        await delay(20)
      }
      this.longestMs = Math.max(this.longestMs, performance.now() - startedAt)
    }
  }
}
