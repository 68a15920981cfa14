import type { BlockWrite } from '../../outcomes/flush.ts'
import { ENTRY_BYTES } from '../../outcomes/outcome-block.ts'

/** Smaller blocks are extended: at low traffic an event does not cost a row. */
export const FULL_BLOCK_ENTRIES = 50
/**
 * Maximum distance between two offsets of a block: the block that holds an offset then lies within this distance in the
 * index, and a search never reads all later blocks.
 */
export const MAX_BLOCK_SPAN = 10_000
/** A writer that has more open blocks begins new ones. */
const MAX_OPEN = 10_000

/** A row of `block`, new or extended. */
export interface PlacedBlock extends BlockWrite {
  /** Number of the row among those of this writer. */
  readonly number: number
}

interface OpenBlock {
  readonly number: number
  entries: number
  firstOffset: number
  lastOffset: number
}

/** Finds the row of each block: the last one of its destination, partition and revision while it is small, else a new one. */
export class BlockRows {
  #day = 0
  #lastNumber = 0
  #open = new Map<string, OpenBlock>()

  /** @param day rows of another day are not extended. */
  place(blocks: readonly BlockWrite[], day: number): PlacedBlock[] {
    if (day !== this.#day || this.#open.size > MAX_OPEN) this.close()
    this.#day = day
    return blocks.flatMap(narrowBlocks).map((block) => this.#place(block))
  }

  /** A row that nothing extends. */
  placeAlone(blocks: readonly BlockWrite[]): PlacedBlock[] {
    return blocks.flatMap(narrowBlocks).map((block) => ({ ...block, number: ++this.#lastNumber }))
  }

  /** It is unknown what the rows hold: new outcomes begin new rows. */
  close(): void {
    this.#open = new Map()
  }

  #place(block: BlockWrite): PlacedBlock {
    const key = `${block.destinationId} ${block.partition} ${block.revision} ${block.replayId}`
    const entries = block.entries.length / ENTRY_BYTES
    const open = this.#open.get(key)
    if (open !== undefined) {
      const firstOffset = Math.min(open.firstOffset, block.firstOffset)
      const lastOffset = Math.max(open.lastOffset, block.lastOffset)
      if (open.entries + entries <= FULL_BLOCK_ENTRIES && lastOffset - firstOffset <= MAX_BLOCK_SPAN) {
        Object.assign(open, { entries: open.entries + entries, firstOffset, lastOffset })
        return { ...block, number: open.number }
      }
    }
    const number = ++this.#lastNumber
    const { firstOffset, lastOffset } = block
    this.#open.set(key, { number, entries, firstOffset, lastOffset })
    return { ...block, number }
  }
}

/** Cuts a block whose offsets lie too far apart. */
function narrowBlocks(block: BlockWrite): BlockWrite[] {
  if (block.lastOffset - block.firstOffset <= MAX_BLOCK_SPAN) return [block]
  const { entries } = block
  const buffer = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength)
  const places = Array.from({ length: entries.length / ENTRY_BYTES }, (_, i) => {
    return { offset: buffer.readUIntLE(i * ENTRY_BYTES, 6), at: i * ENTRY_BYTES }
  })
  places.sort((a, b) => a.offset - b.offset)
  const parts: (typeof places)[] = []
  for (const place of places) {
    const part = parts.at(-1)
    if (part === undefined || place.offset - part[0]!.offset > MAX_BLOCK_SPAN) parts.push([place])
    else part.push(place)
  }
  return parts.map((part) => ({
    ...block,
    firstOffset: part[0]!.offset,
    lastOffset: part.at(-1)!.offset,
    entries: Buffer.concat(part.map(({ at }) => buffer.subarray(at, at + ENTRY_BYTES))),
  }))
}
