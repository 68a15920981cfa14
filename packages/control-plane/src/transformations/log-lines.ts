import { formatTime, type JsonObject } from '@millrace/protocol'

/** A line logged by a live run. */
export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly destinationId: string
  /** Null if the run had several events. */
  readonly messageId: string | null
  /** Text of the sandbox: `Log: …`, without values of credentials. */
  readonly line: string
}

/** Keeps the last lines of each transformation. */
export interface LogLineBook {
  add(transformationId: string, lines: readonly LogLine[]): void
  /** Newest first. */
  of(transformationId: string): LogLine[] | Promise<LogLine[]>
}

const MAX_LINES = 1_000
/** Maximum for all transformations together; beyond it the transformations with the oldest lines lose theirs. */
const MAX_CHARACTERS = 32 * 1024 * 1024

/**
 * The last 1,000 lines of each transformation with `captureLogs`, in memory: they show what code does now.
 *
 * @see contracts/transformations.md §8 [D431]
 */
export class LogLines implements LogLineBook {
  /** By transformation, ordered by the last line. */
  readonly #lines = new Map<string, LogLine[]>()
  #characters = 0

  add(transformationId: string, lines: readonly LogLine[]): void {
    const all = [...(this.#lines.get(transformationId) ?? []), ...lines]
    this.#characters += charactersOf(lines) - charactersOf(all.slice(0, -MAX_LINES))
    this.#lines.delete(transformationId)
    this.#lines.set(transformationId, all.slice(-MAX_LINES))
    for (const [id] of this.#lines) {
      if (this.#characters <= MAX_CHARACTERS) break
      this.#forget(id)
    }
  }

  /** Newest first. */
  of(transformationId: string): LogLine[] {
    return this.#lines.get(transformationId)?.toReversed() ?? []
  }

  #forget(transformationId: string): void {
    this.#characters -= charactersOf(this.#lines.get(transformationId) ?? [])
    this.#lines.delete(transformationId)
  }
}

export function logLineJson({ at, destinationId, messageId, line }: LogLine): JsonObject {
  return { at: formatTime(at), destinationId, messageId, line }
}

function charactersOf(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { line }) => sum + line.length, 0)
}
