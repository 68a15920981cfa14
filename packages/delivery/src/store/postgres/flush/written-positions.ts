import type { Flush, PositionWrite } from '../../outcomes/flush.ts'
import type { ShardFence } from '../../shard-fence.ts'

/** More places than an installation has; then the oldest are written again. */
const MAX_REMEMBERED = 100_000

/**
 * The positions that this process wrote last. A lane that opens again lists all its positions, and most of them did not move:
 * writing those again would make a new version of their rows.
 */
export class WrittenPositions {
  readonly #fence: ShardFence | undefined
  readonly #written = new Map<string, string>()

  constructor(fence: ShardFence | undefined) {
    this.#fence = fence
  }

  moved(positions: Flush['positions']): PositionWrite[] {
    return positions.filter((position) => this.#written.get(keyOf(position)) !== this.#valueOf(position))
  }

  note(positions: Flush['positions']): void {
    if (this.#written.size > MAX_REMEMBERED) this.#written.clear()
    for (const position of positions) this.#written.set(keyOf(position), this.#valueOf(position))
  }

  /** Another owner may have moved a position: under another epoch it is another value. */
  #valueOf({ partition, position: { offset, index } }: PositionWrite): string {
    const epoch = this.#fence?.epochOf(this.#fence.shardOf(partition))
    return `${offset} ${index} ${epoch}`
  }
}

function keyOf({ reader, partition, stream }: PositionWrite): string {
  return `${reader} ${partition} ${stream}`
}
