import type { DeliveryState, Destination, Source } from '@millrace/api-types'
import { homeTexts } from '../texts.ts'
import type { MarkKind } from './state-mark.tsx'

/** Mark and word of a node; a lower rank is more urgent. */
export interface NodeState {
  readonly kind: MarkKind
  readonly word: string
  readonly rank: number
}

const BEHIND_MS = 60_000

/** The first state of the table that applies. @see contracts/dashboard.md §5 */
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

/** Whether a destination in this state needs attention. */
export function needsAttention({ kind }: NodeState): boolean {
  return kind === 'failed' || kind === 'resting' || kind === 'behind' || kind === 'dead'
}

/**
 * @param refused number of refused requests in the last five minutes.
 * @param goesNowhere whether it accepts events without a connection.
 */
export function sourceState({ enabled }: Pick<Source, 'enabled'>, refused: number, goesNowhere: boolean): NodeState {
  if (!enabled) return OFF
  if (goesNowhere) return { kind: 'refused', word: homeTexts.unconnected, rank: 3 }
  return refused > 0 ? { kind: 'refused', word: homeTexts.refused(refused), rank: 3 } : OK
}

const OFF: NodeState = { kind: 'off', word: homeTexts.off, rank: 4 }
const OK: NodeState = { kind: 'ok', word: homeTexts.ok, rank: 5 }
