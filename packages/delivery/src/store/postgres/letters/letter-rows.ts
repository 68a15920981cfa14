import { DEAD_LETTER_STATES } from '../../dead-letter-store.ts'
import { type DeadLetterWrite, STAGES } from '../../outcomes/flush.ts'
import { jsonOrNull } from '../flush/flush-check.ts'
import type { NumberOf } from '../outcomes/journey-rows.ts'
import { storedBytes, storedText } from '../stored-text.ts'

export const OPEN = DEAD_LETTER_STATES.indexOf('open')
export const REPLAYING = DEAD_LETTER_STATES.indexOf('replaying')
export const RESOLVED = DEAD_LETTER_STATES.indexOf('resolved')
export const DISCARDED = DEAD_LETTER_STATES.indexOf('discarded')
/** `state_at` of a dead letter that was always open. */
const NEVER = 0
/** Ids that one number of the sequence reserves. @see postgres/schema.ts */
export const IDS_OF_NUMBER = 256
/** SQL of the first id of a new dead letter or range. */
const NEXT_ID = `nextval('dead_letter_number') * ${IDS_OF_NUMBER}`

/** Names that a dead letter uses. */
export function namesOfLetter({ destinationId, sourceId, replayId, reason, lastAnswer }: DeadLetterWrite): string[] {
  return [destinationId, sourceId, reason, replayId, lastAnswer].filter((name) => name !== null)
}

/** Rows of `dead_letter` as JSON. */
export function lettersAsJson(letters: readonly DeadLetterWrite[], names: NumberOf): string {
  return JSON.stringify(
    letters.map((letter) => ({
      ...sharedColumns(letter, names),
      offset: letter.offset,
      idx: letter.index,
      accepted_at: letter.acceptedAt,
      attempts: letter.attempts,
      replay: letter.replayId === null ? null : names(letter.replayId),
      requests: jsonOrNull(letter.requests),
      event: storedText(letter.event),
    })),
  )
}

/** Rows of `letter_range` as JSON, one for each group. */
export function rangesAsJson(groups: readonly (readonly DeadLetterWrite[])[], names: NumberOf): string {
  return JSON.stringify(
    groups.map((letters) => ({
      ...sharedColumns(letters[0]!, names),
      first_offset: letters[0]!.offset,
      last_offset: letters.at(-1)!.offset,
      letters: letters.length,
      event_bytes: letters.reduce((sum, { event }) => sum + storedBytes(event), 0),
      offsets: letters.map(({ offset }) => offset),
      indexes: letters.map(({ index }) => index),
      accepted: letters.map(({ acceptedAt }) => acceptedAt),
      events: letters.map(({ event }) => storedText(event)),
    })),
  )
}

function sharedColumns(letter: DeadLetterWrite, names: NumberOf) {
  return {
    destination: names(letter.destinationId),
    source: names(letter.sourceId),
    partition: letter.partition,
    stage: STAGES.indexOf(letter.stage),
    reason: names(letter.reason),
    dead_at: letter.deadAt,
    last_status: letter.lastStatus,
    last_answer: letter.lastAnswer === null ? null : names(letter.lastAnswer),
    revision: letter.revision,
  }
}

const SHARED = ['destination', 'source', 'partition', 'reason', 'dead_at', 'last_status', 'last_answer', 'revision']
const LETTER_NUMBERS = [...SHARED, '"offset"', 'idx', 'accepted_at', 'attempts', 'replay']
const RANGE_NUMBERS = [...SHARED, 'first_offset', 'last_offset', 'letters', 'event_bytes']

/** SQL that inserts new open dead letters. @param rows SQL of `lettersAsJson`. */
export function insertLetters(rows: string, where: string): string {
  const columns = [...LETTER_NUMBERS, 'stage', 'requests', 'event'].join(', ')
  return `
    INSERT INTO dead_letter (id, state, state_at, ${columns}) SELECT ${NEXT_ID}, ${OPEN}, ${NEVER}, ${columns}
    FROM json_to_recordset(${rows}::json)
      AS row(${bigints(LETTER_NUMBERS)}, stage smallint, requests text, event text) WHERE ${where}`
}

/** SQL that inserts ranges of new open dead letters. @param rows SQL of `rangesAsJson`. */
export function insertRanges(rows: string, where: string): string {
  const columns = [...RANGE_NUMBERS, 'stage', 'offsets', 'indexes', 'accepted', 'events'].join(', ')
  return `
    INSERT INTO letter_range (first, state, state_at, ${columns}) SELECT ${NEXT_ID}, ${OPEN}, ${NEVER}, ${columns}
    FROM json_to_recordset(${rows}::json) AS row(${bigints(RANGE_NUMBERS)}, stage smallint,
      offsets bigint[], indexes integer[], accepted bigint[], events text[]) WHERE ${where}`
}

function bigints(columns: readonly string[]): string {
  return columns.map((name) => `${name} bigint`).join(', ')
}
