import type { Bench } from './bench.ts'
import type { Measured } from './row.ts'
import { median, middleHalf } from './statistics.ts'

export interface Samples<T> {
  readonly product: readonly T[]
  readonly limit: readonly T[]
}

/**
 * Measures both in turns, so that what the machine does meanwhile falls on both alike. Each is first in every other round: what
 * one leaves to the next then cancels out.
 */
export async function alternate<T>(
  rounds: number,
  limit: () => Promise<T>,
  product: () => Promise<T>,
): Promise<Samples<T>> {
  const samples: { product: T[]; limit: T[] } = { product: [], limit: [] }
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 1) samples.product.push(await product())
    samples.limit.push(await limit())
    if (round % 2 === 0) samples.product.push(await product())
  }
  return samples
}

/** Processes of the same code differ by several percent for as long as they live: more pairs tell more than more rounds. */
const BESIDE_LIMIT = { pairs: 3, rounds: 5 }
/** Two checkouts differ by less than product and limit program. */
const BESIDE_CHECKOUT = { pairs: 12, rounds: 2 }

/** The samples of several pairs of processes, one pair after the other. */
export async function ofPairs<T>(
  { against }: Pick<Bench, 'against'>,
  ofPair: (rounds: number) => Promise<Samples<T>>,
): Promise<Samples<T>> {
  const { pairs: count, rounds } = against === undefined ? BESIDE_LIMIT : BESIDE_CHECKOUT
  const pairs: Samples<T>[] = []
  for (let pair = 0; pair < count; pair++) pairs.push(await ofPair(rounds))
  return { product: pairs.flatMap(({ product }) => product), limit: pairs.flatMap(({ limit }) => limit) }
}

/** The ratio is the median of the pairs' ratios, not the ratio of the medians: a slow minute slows both of a pair. */
export function compared({ product, limit }: Samples<number>, show: (value: number) => string): Measured {
  const ratios = product.map((value, i) => value / limit[i]!)
  const [low, high] = middleHalf(ratios)
  return {
    measured: show(median(product)),
    limit: show(median(limit)),
    ratio: median(ratios),
    spread: `${low.toFixed(2)}–${high.toFixed(2)}`,
    samples: { product, limit },
  }
}
