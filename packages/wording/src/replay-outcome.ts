import { counted, grouped } from './numbers.ts'

/** How far a replay of events is, or a job over dead letters. @see contracts/delivery.md §7 */
export interface ReplayCounts {
  readonly origin: string
  readonly kind: string
  readonly dryRun: boolean
  readonly state: string
  /** Null until counted. */
  readonly matched: number | null
  readonly delivered: number
  readonly filtered: number
  readonly deadLettered: number
  readonly discarded: number
  /** Whether the log has lost a part of the range. */
  readonly damaged?: boolean
}

const RUNNING = ['queued', 'running', 'paused']

/**
 * What became of the events of a replay: `finished, 169 of 169 failed again`, `running, 40 of 169 done, 3 failed again`. That
 * every event has an end says nothing of how it ended, so what failed is part of the state.
 */
export function replayOutcome(replay: ReplayCounts): string {
  const outcome = outcomeOf(replay)
  return replay.damaged === true ? `${outcome}, without a damaged part of the log` : outcome
}

function outcomeOf(replay: ReplayCounts): string {
  const { matched, dryRun, state, kind } = replay
  const word = state === 'done' ? 'finished' : state
  if (matched === null) return RUNNING.includes(state) ? `${word}, counting` : word
  if (dryRun) return `${word}, ${counted(matched, 'event')} counted`
  if (matched === 0) return `${word}, no event matched`
  const of = `of ${grouped(matched)}`
  if (kind === 'discard') return `${word}, ${grouped(replay.discarded)} ${of} discarded`
  const { delivered, filtered, deadLettered, discarded } = replay
  const failed = deadLettered === 0 ? [] : [`${grouped(deadLettered)} ${failedText(replay)}`]
  if (RUNNING.includes(state)) {
    return [word, `${grouped(delivered + filtered + deadLettered + discarded)} ${of} done`, ...failed].join(', ')
  }
  const parts = [
    ...(deadLettered === 0 ? [] : [`${grouped(deadLettered)} ${of} ${failedText(replay)}`]),
    ...(delivered === 0 && deadLettered > 0 ? [] : [`${grouped(delivered)} ${of} delivered`]),
    ...(filtered === 0 ? [] : [`${grouped(filtered)} filtered`]),
    ...(discarded === 0 ? [] : [`${grouped(discarded)} discarded`]),
  ]
  return [word, ...parts].join(', ')
}

/** Dead letters have failed before; events of the log may fail for the first time. */
function failedText({ origin }: ReplayCounts): string {
  return origin === 'dead_letters' ? 'failed again' : 'failed'
}
