import type { PreparedFlush } from './flush-statement.ts'

/** Size of the rows of one statement: Postgres writes them in far less than it may take, and their JSON is a string. */
const MAX_BYTES = 8 * 1024 * 1024
/** Generous estimates of a row without its text, and of one request with its attempts. */
const ROW_BYTES = 1_000
const REQUEST_BYTES = 4_000

/** The parts of a flush that can be large. */
type Rows = Pick<PreparedFlush, 'blocks'> & Pick<PreparedFlush['flush'], 'journeys' | 'replaced' | 'deadLetters'>
type Part = { -readonly [Name in keyof Rows]: Rows[Name][number][] }

/**
 * Cuts a flush into parts for one statement each, all of one transaction. The first one has the fence and the number, the last
 * one the positions. A flush of usual size is one part.
 */
export function partsOf(prepared: PreparedFlush): readonly [PreparedFlush, ...PreparedFlush[]] {
  const { flush, blocks, positions } = prepared
  const parts = cut({ ...flush, blocks })
  if (parts.length === 1) return [prepared]
  const last = parts.length - 1
  const [first, ...others] = parts.map(({ blocks, ...rows }, i): PreparedFlush => {
    const small = i === last ? flush : { versions: [], delivered: [], rested: [] }
    return {
      ...prepared,
      ...(i === 0 ? {} : { owned: undefined, number: undefined }),
      ...{ flush: { ...small, ...rows }, blocks, positions: i === last ? positions : [] },
    }
  })
  return [first!, ...others]
}

function cut({ blocks, journeys, replaced, deadLetters }: Rows): Part[] {
  const parts = [emptyPart()]
  let bytes = 0
  const partFor = (size: number): Part => {
    if (bytes > 0 && bytes + size > MAX_BYTES) {
      parts.push(emptyPart())
      bytes = 0
    }
    bytes += size
    return parts.at(-1)!
  }
  for (const row of blocks) partFor(ROW_BYTES + row.entries.length).blocks.push(row)
  for (const row of journeys) partFor(sizeOf(row)).journeys.push(row)
  for (const row of replaced) partFor(ROW_BYTES).replaced.push(row)
  for (const row of deadLetters) partFor(sizeOf(row) + row.event.length).deadLetters.push(row)
  return parts
}

function sizeOf({ requests }: { readonly requests: readonly unknown[] | null }): number {
  return ROW_BYTES + REQUEST_BYTES * (requests?.length ?? 0)
}

function emptyPart(): Part {
  return { blocks: [], journeys: [], replaced: [], deadLetters: [] }
}
