import type { DeliveryState, Destination } from '../../api/destinations.ts'
import type { Source } from '../../api/sources.ts'
import type { MarkKind } from '../../components/state-mark.tsx'
import { homeTexts } from '../../texts.ts'

/** Mark and word of a node; the lower the rank, the sooner somebody should look. */
export interface NodeState {
  readonly kind: MarkKind
  readonly word: string
  readonly rank: number
}

const BEHIND_MS = 60_000

/** The first state of the table that holds. @see contracts/dashboard.md §5 */
export function destinationState(
  { enabled }: Pick<Destination, 'enabled'>,
  delivery: DeliveryState | undefined,
  now: number,
): NodeState {
  if (!enabled) return OFF
  if (delivery === undefined) return OK
  const { state, oldestPendingAt, hotId, deadLettersOpen } = delivery
  if (state === 'unauthorised') return { kind: 'failed', word: homeTexts.unauthorised, rank: 0 }
  if (state === 'resting') return { kind: 'resting', word: homeTexts.resting, rank: 1 }
  const behindMs = oldestPendingAt === null ? 0 : now - Date.parse(oldestPendingAt)
  if (behindMs > BEHIND_MS || hotId !== null) {
    return { kind: 'behind', word: homeTexts.behind(Math.max(1, Math.floor(behindMs / 60_000))), rank: 2 }
  }
  if (deadLettersOpen > 0) return { kind: 'dead', word: homeTexts.dead(deadLettersOpen), rank: 3 }
  return OK
}

/** @param refused requests of the last five minutes. */
export function sourceState({ enabled }: Pick<Source, 'enabled'>, refused: number): NodeState {
  if (!enabled) return OFF
  return refused > 0 ? { kind: 'refused', word: homeTexts.refused(refused), rank: 3 } : OK
}

const OFF: NodeState = { kind: 'off', word: homeTexts.off, rank: 4 }
const OK: NodeState = { kind: 'ok', word: homeTexts.ok, rank: 5 }
