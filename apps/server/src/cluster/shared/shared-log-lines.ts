import type { LogLine, LogLineBook } from '@millrace/control-plane'
import { Turns } from '@millrace/pipeline/cluster'
import type { PostgresPool } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { ServerLogger } from '../../logger.ts'

const TURN_MS = 1_000
/** Of each transformation, as in an embedded server. */
const MAX_LINES = 1_000
/** Of those that wait for the next turn: code that logs more loses its oldest lines. */
const MAX_WAITING = 1_000
const MAX_WAITING_CHARACTERS = 1024 * 1024

interface WaitingLine extends LogLine {
  readonly transformationId: string
}

/** The lines that user code logs in all processes: this one writes its own every second. */
export class SharedLogLines implements LogLineBook, AsyncDisposable {
  readonly #pool: PostgresPool
  readonly #turns: Turns
  #waiting: WaitingLine[] = []

  constructor(pool: PostgresPool, clock: Clock, logger: ServerLogger) {
    this.#pool = pool
    const onError = (error: Error) => logger.warn({ err: error }, 'logged lines of user code cannot be written')
    this.#turns = new Turns(clock, TURN_MS, () => this.#write(), onError)
    this.#turns.start()
  }

  add(transformationId: string, lines: readonly LogLine[]): void {
    for (const line of lines) this.#waiting.push({ ...line, transformationId })
    // Not with each line: what is dropped is copied.
    if (this.#waiting.length > 2 * MAX_WAITING) this.#waiting = newest(this.#waiting)
  }

  /** Newest first, at most a second old. */
  of(transformationId: string): Promise<LogLine[]> {
    return this.#pool.query<LogLine & Record<string, unknown>>(
      `SELECT at, destination AS "destinationId", message AS "messageId", line FROM logged_line
       WHERE transformation = $1 ORDER BY number DESC LIMIT $2`,
      [transformationId, MAX_LINES],
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.stop()
    // They are for people who look now: a stop does not fail because of them.
    await this.#write().catch(() => {})
  }

  async #write(): Promise<void> {
    const lines = newest(this.#waiting)
    this.#waiting = []
    if (lines.length === 0) return
    try {
      await this.#insert(lines)
    } catch (error) {
      this.#waiting = [...lines, ...this.#waiting]
      throw error
    }
  }

  async #insert(lines: readonly WaitingLine[]): Promise<void> {
    await this.#pool.query(
      `INSERT INTO logged_line (transformation, at, destination, message, line)
       SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[])`,
      [
        lines.map(({ transformationId }) => transformationId),
        lines.map(({ at }) => at),
        lines.map(({ destinationId }) => storable(destinationId)),
        lines.map(({ messageId }) => messageId && storable(messageId)),
        lines.map(({ line }) => storable(line)),
      ],
    )
    await this.#pool.query(
      `DELETE FROM logged_line USING (
         SELECT id, (SELECT number FROM logged_line WHERE transformation = id ORDER BY number DESC OFFSET $2 LIMIT 1) AS last
         FROM unnest($1::text[]) AS written (id)
       ) AS old
       WHERE transformation = old.id AND number <= old.last`,
      [[...new Set(lines.map(({ transformationId }) => transformationId))], MAX_LINES],
    )
  }
}

/** The last lines that one turn may write. */
function newest(lines: readonly WaitingLine[]): WaitingLine[] {
  let characters = 0
  let from = lines.length
  while (from > 0 && lines.length - from < MAX_WAITING) {
    characters += lines[from - 1]!.line.length
    if (characters > MAX_WAITING_CHARACTERS) break
    from--
  }
  return lines.slice(from)
}

/** Postgres stores no NUL character. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd')
}
