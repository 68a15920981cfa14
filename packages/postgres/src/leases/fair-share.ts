import type { HeldLease } from './leases.ts'

/** Leases that a member claims per turn at most, so that members that start together share. */
const MAX_CLAIMS = 4

interface Turn<T> {
  /** The last claimed first. */
  readonly toGiveBack: readonly T[]
  /** How many more to claim in this turn. */
  readonly toClaim: number
}

/**
 * What a member does about the leases of one kind in a turn. Only what exceeds the fair share moves: members at or below
 * it keep their leases when another joins or leaves.
 *
 * @param wanted numbers of all leases of this kind.
 * @param held by this member, in order of their claims.
 * @param members live members that share them, this one included.
 * @see contracts/cluster.md §4 [K8]
 */
export function fairShare<T extends HeldLease>(
  wanted: readonly number[],
  held: readonly T[],
  members: number,
): Turn<T> {
  const share = Math.ceil(wanted.length / Math.max(1, members))
  const numbers = new Set(wanted)
  const unwanted = held.filter(({ number }) => !numbers.has(number))
  const kept = held.filter(({ number }) => numbers.has(number))
  const excess = kept.slice(share).reverse()
  return { toGiveBack: [...unwanted, ...excess], toClaim: Math.min(MAX_CLAIMS, Math.max(0, share - kept.length)) }
}
