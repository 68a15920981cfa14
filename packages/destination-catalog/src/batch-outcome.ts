import { outcomeOfStatus, outcomeOfThrown, type RunFacts, type UnitOutcome, unitOutcome } from './classify.ts'
import type { PooledEnd } from './host/guest-pool.ts'
import type { EventEnd, MappingEnd } from './messages.ts'

/**
 * How the delivery of several events by one mapping ended: for each of them, or for all alike. `mayBeAboutOne`: the abort may
 * come from one of the events, so that the others are to be sent without it.
 *
 * @see contracts/destination-catalog.md §9.3
 */
export type BatchEnd =
  | { readonly each: readonly UnitOutcome[] }
  | { readonly all: UnitOutcome; readonly mayBeAboutOne: boolean }

/** Answers that may be about one event. */
const MAY_BE_ABOUT_ONE = new Set([400, 413, 422])
/** Faults are counted by event, when it runs alone. */
const NO_FAULTS = 0

export function batchOutcome(end: PooledEnd, facts: Omit<RunFacts, 'faults'>): BatchEnd {
  // One event may have ended the thread: each runs alone next time.
  if (end.kind === 'crashed') return batchOutcome({ kind: 'lost' }, facts)
  const [ended] = end.kind === 'ends' ? end.ends : []
  if (ended?.results !== undefined) return outcomeOfResults(ended.results, facts.lastStatus)
  if (ended?.thrown?.kind === 'code') {
    return { all: { kind: 'abort', status: 500, text: ended.thrown.text, stage: 'delivery' }, mayBeAboutOne: true }
  }
  const all = unitOutcome(end, { ...facts, faults: NO_FAULTS })
  return { all, mayBeAboutOne: all.kind === 'abort' && mayBeAboutOne(ended, all.status) }
}

/** Some code repeats a refusal of its whole request for each event. */
function outcomeOfResults(results: readonly EventEnd[], lastStatus: number | undefined): BatchEnd {
  const each = results.map(outcomeOf)
  const sent = each.filter((_, at) => !('isInvalid' in results[at]! && results[at].isInvalid))
  const [first] = sent
  const isWhole = sent.length > 1 && sent.every(({ kind, status }) => kind !== 'delivered' && status === lastStatus)
  return isWhole ? { all: first!, mayBeAboutOne: MAY_BE_ABOUT_ONE.has(first!.status) } : { each }
}

function mayBeAboutOne(ended: MappingEnd | undefined, status: number): boolean {
  return ended?.thrown?.kind !== 'answer' || MAY_BE_ABOUT_ONE.has(status)
}

function outcomeOf(result: EventEnd): UnitOutcome {
  if (!('thrown' in result)) {
    const { status, text, isInvalid } = result
    if (isInvalid) return { kind: 'abort', status: 400, text, stage: 'dest_transformation' }
    if (status >= 200 && status < 300) return { kind: 'delivered', status, text, stage: 'delivery' }
    return outcomeOfStatus(status, text)
  }
  // Some events ran apart, and their run failed: the event at fault is found when each of them runs alone.
  const outcome = outcomeOfThrown(result.thrown, NO_FAULTS)
  return outcome.kind === 'retry' ? outcome : { ...outcome, kind: 'retry', stage: 'delivery', isFault: true }
}
