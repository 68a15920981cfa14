import type { DeadLetterWrite } from '../outcomes/flush.ts'

/** A smaller group becomes single rows. */
export const FEWEST_ALIKE = 16
/** Maximum size: reading one letter reads its whole range. */
export const MAX_ALIKE = 256
const MAX_EVENT_BYTES = 1024 * 1024
const MINUTE_MS = 60_000

/**
 * Finds groups of similar dead letters without attempts of their own, each of which is stored as one range.
 *
 * @returns the groups, each ordered by place, and the other letters in order.
 */
export function alikeLetters(letters: readonly DeadLetterWrite[]): {
  groups: DeadLetterWrite[][]
  others: DeadLetterWrite[]
} {
  if (letters.length < FEWEST_ALIKE) return { groups: [], others: [...letters] }
  const groups: DeadLetterWrite[][] = []
  for (const alike of Map.groupBy(letters.filter(isPlain), sharedBy).values()) {
    const sorted = alike.toSorted((a, b) => a.offset - b.offset || a.index - b.index)
    for (const chunk of chunksOf(sorted)) if (chunk.length >= FEWEST_ALIKE) groups.push(chunk)
  }
  const grouped = new Set(groups.flat())
  return { groups, others: letters.filter((letter) => !grouped.has(letter)) }
}

function isPlain({ replayId, attempts, requests }: DeadLetterWrite): boolean {
  return replayId === null && attempts === 0 && requests === null
}

/** Open dead letters are counted by the minute in which delivery gave them up. */
export function minuteOf({ deadAt }: Pick<DeadLetterWrite, 'deadAt'>): number {
  return Math.trunc(deadAt / MINUTE_MS)
}

/**
 * Fields that the letters of a range share. Delivery gave them up within milliseconds, so they also share the time of the first
 * one; within one minute, because a range leaves the count of the minute of its time.
 */
function sharedBy(letter: DeadLetterWrite): string {
  const { destinationId, sourceId, partition, stage, reason, lastStatus, lastAnswer, revision } = letter
  const outcome = [stage, reason, lastStatus, lastAnswer, revision]
  return JSON.stringify([destinationId, sourceId, partition, ...outcome, minuteOf(letter)])
}

function* chunksOf(letters: readonly DeadLetterWrite[]): Generator<DeadLetterWrite[]> {
  let chunk: DeadLetterWrite[] = []
  let bytes = 0
  for (const letter of letters) {
    const size = Buffer.byteLength(letter.event)
    if (chunk.length > 0 && (chunk.length === MAX_ALIKE || bytes + size > MAX_EVENT_BYTES)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(letter)
    bytes += size
  }
  yield chunk
}
