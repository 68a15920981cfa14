import {
  type BlockWrite,
  type DeadLetterWrite,
  type Flush,
  JOURNEY_OUTCOMES,
  type JourneyWrite,
  type PositionWrite,
  type RefusedRow,
  type ReplacedRow,
  type ReplayedWrite,
  STAGES,
  type VersionsWrite,
} from '../../outcomes/flush.ts'

/** Throws a TypeError for a row that the database would refuse, or that could not be read back. */
type Check<Row> = (row: Row) => void

/** @returns the rows of a flush that cannot be written because of their content. */
export function refusedRows(flush: Flush): RefusedRow[] {
  const refused: RefusedRow[] = []
  for (const part of Object.keys(CHECKS) as (keyof Flush)[]) {
    const check = CHECKS[part] as Check<unknown>
    for (const [at, row] of flush[part].entries()) {
      try {
        check(row)
      } catch (error) {
        refused.push({ part, at, cause: (error as Error).message })
      }
    }
  }
  return refused
}

const CHECKS: { readonly [Part in keyof Flush]: Check<Flush[Part][number]> } = {
  blocks: checkBlock,
  journeys: checkJourney,
  replaced: checkReplaced,
  deadLetters: checkLetter,
  replayed: checkReplayed,
  positions: checkPosition,
  versions: checkVersions,
  delivered: ({ destinationId, hour, count }) => {
    texts({ destinationId })
    integers({ hour, count })
  },
  rested: ({ partition }) => integers({ partition }),
}

function checkBlock(block: BlockWrite): void {
  const { destinationId, partition, revision, replayId, firstOffset, lastOffset, lastAt, entries } = block
  texts({ destinationId })
  optionalTexts({ replayId })
  integers({ partition, revision, firstOffset, lastOffset, lastAt })
  if (!(entries instanceof Uint8Array)) throw new TypeError('entries are no bytes')
}

export function checkJourney(journey: JourneyWrite): void {
  const { destinationId, sourceId, replayId, reason, outcome, partition, stream, offset, index } = journey
  const { acceptedAt, sizeBytes, userKey, anonymousKey, attempts, deliveredRequests, firstAttemptAt } = journey
  if (!JOURNEY_OUTCOMES.includes(outcome)) throw new TypeError('a journey lacks its outcome')
  texts({ destinationId, sourceId })
  optionalTexts({ replayId, reason })
  integers({ partition, stream, offset, index, acceptedAt, sizeBytes, userKey, anonymousKey, attempts })
  integers({ deliveredRequests, revision: journey.revision, at: journey.at })
  optionalIntegers({ firstAttemptAt, dueAt: rounded(journey.dueAt) })
  jsonOrNull(journey.requests)
}

function checkReplaced({ destinationId, replayId, partition, offset, index }: ReplacedRow): void {
  texts({ destinationId })
  optionalTexts({ replayId })
  integers({ partition, offset, index })
}

function checkLetter(letter: DeadLetterWrite): void {
  const { destinationId, sourceId, replayId, reason, lastAnswer, event, stage } = letter
  const { partition, offset, index, acceptedAt, deadAt, attempts, lastStatus, revision } = letter
  if (!STAGES.includes(stage)) throw new TypeError('a dead letter lacks its stage')
  texts({ destinationId, sourceId, reason, event })
  optionalTexts({ replayId, lastAnswer })
  integers({ partition, offset, index, acceptedAt, deadAt, attempts, lastStatus, revision })
  jsonOrNull(letter.requests)
}

function checkReplayed(replayed: ReplayedWrite): void {
  texts({ letterId: replayed.letterId })
  switch (replayed.kind) {
    case 'journey':
      checkJourney(replayed.journey)
      break
    case 'dead_letter':
      checkLetter(replayed.letter)
      break
    case 'left_out':
      texts({ reason: replayed.reason })
      integers({ at: replayed.at, revision: replayed.revision })
  }
}

function checkPosition({ reader, partition, stream, position }: PositionWrite): void {
  texts({ reader })
  integers({ partition, stream, offset: position.offset, index: position.index })
}

function checkVersions({ destinationId, revision, versionIds }: VersionsWrite): void {
  texts({ destinationId })
  integers({ revision })
  jsonOrNull(versionIds)
}

/** A due time is a moment of a clock that counts fractions. */
export function rounded(at: number | null): number | null {
  return at === null ? null : Math.round(at)
}

/** JSON of a list, or null; a value that has none is refused. */
export function jsonOrNull(value: readonly unknown[] | null): string | null {
  if (value === null) return null
  const json = JSON.stringify(value)
  if (typeof json !== 'string') throw new TypeError(`a column cannot be stored: ${typeof value}`)
  return json
}

function texts(columns: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(columns)) if (typeof value !== 'string') refuse(name, value)
}

function optionalTexts(columns: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(columns)) if (value !== null) texts({ [name]: value })
}

function integers(columns: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(columns)) if (!Number.isSafeInteger(value)) refuse(name, value)
}

function optionalIntegers(columns: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(columns)) if (value !== null) integers({ [name]: value })
}

function refuse(name: string, value: unknown): never {
  throw new TypeError(`${name} cannot be stored: ${typeof value === 'number' ? value : typeof value}`)
}
