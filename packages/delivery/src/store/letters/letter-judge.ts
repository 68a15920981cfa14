import type { DeadLetterFilter } from '../dead-letter-store.ts'
import { STAGES } from '../outcomes/flush.ts'

/** The columns of a dead letter that filters use; names and texts as numbers. */
export interface JudgedLetter {
  readonly source: number
  readonly stage: number
  readonly reason: number
  readonly dead_at: number
  /** JSON of the stored event; empty unless `needsPayload`. */
  readonly event: unknown
}

/** Numbers of the names that a filter asks for; undefined: any. */
export interface SoughtNames {
  readonly source: number | undefined
  readonly reason: number | undefined
}

/** Whether a filter uses a field of the payload. */
export function needsPayload({ userId, messageId }: DeadLetterFilter): boolean {
  return userId !== undefined || messageId !== undefined
}

/** Tests dead letters of the right state and destination one by one, so the caller can count them. */
export function letterJudge(
  filter: DeadLetterFilter,
  { source, reason }: SoughtNames,
): (letter: JudgedLetter) => boolean {
  const stage = filter.stage === undefined ? undefined : (STAGES as readonly string[]).indexOf(filter.stage)
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, userId, messageId } = filter
  return (letter) => {
    if (source !== undefined && letter.source !== source) return false
    if (reason !== undefined && letter.reason !== reason) return false
    if (stage !== undefined && letter.stage !== stage) return false
    if (letter.dead_at < from || letter.dead_at >= to) return false
    if (!needsPayload(filter)) return true
    const event = JSON.parse(letter.event as string) as { userId?: string; messageId: string }
    return (
      (userId === undefined || event.userId === userId) && (messageId === undefined || event.messageId === messageId)
    )
  }
}
