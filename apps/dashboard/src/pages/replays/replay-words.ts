import type { Replay, ReplayState } from '@millrace/api-types'
import { counted, durationText, grouped, replayOutcome } from '@millrace/wording'
import { isRunning } from '../../api/replays.ts'
import type { MarkKind } from '../../components/state-mark.tsx'
import { replayTexts } from '../../texts.ts'

const STATE_MARKS: Readonly<Record<ReplayState, MarkKind>> = {
  queued: 'waiting',
  running: 'behind',
  paused: 'off',
  done: 'ok',
  cancelled: 'off',
  failed: 'failed',
}

/** The kind of a job: `Replay of the log`, `Dead letters replayed`. */
export function replayKind({ origin, kind, dryRun }: Pick<Replay, 'origin' | 'kind' | 'dryRun'>): string {
  const what =
    origin === 'log' ? 'Replay of the log' : kind === 'discard' ? 'Dead letters discarded' : 'Dead letters replayed'
  return dryRun ? `${what}, dry run` : what
}

/** Number of events with an outcome. */
function replayDone({ delivered, filtered, deadLettered, discarded }: Replay): number {
  return delivered + filtered + deadLettered + discarded
}

export function progressText(replay: Replay): string {
  const { matched, dryRun } = replay
  if (matched === null) return 'counting …'
  return dryRun ? counted(matched, 'event') : `${grouped(replayDone(replay))} of ${grouped(matched)}`
}

/** Outcomes as shares of all matches: failures do not count as progress. */
export function outcomeParts(replay: Replay) {
  const { matched, delivered, filtered, discarded, deadLettered, kind } = replay
  const of = (count: number) => (matched === null || matched === 0 ? 0 : count / matched)
  if (matched === null || matched === 0 || replay.dryRun)
    return [{ share: progressShare(replay), tone: 'plain' }] as const
  // For a discard, discarded events are the successful ones.
  const [good, rest] = kind === 'discard' ? [discarded, 0] : [delivered, filtered + discarded]
  return [
    { share: of(good), tone: 'plain' },
    { share: of(rest), tone: 'idle' },
    { share: of(deadLettered), tone: 'bad' },
  ] as const
}

/** State and result of a job: `finished, 169 of 169 failed again`. */
export function replayState(replay: Replay): { readonly kind: MarkKind; readonly word: string } {
  const hasFailed = !replay.dryRun && replay.deadLettered > 0
  return { kind: hasFailed ? 'dead' : STATE_MARKS[replay.state], word: replayOutcome(replay) }
}

export function progressShare(replay: Replay): number {
  const { matched, dryRun } = replay
  if (matched === null) return 0
  if (dryRun || matched === 0) return isRunning(replay) ? 0 : 1
  return replayDone(replay) / matched
}

/** `5,120 events, about 51 s at 100/s`. */
export function estimateText(matched: number, rate: number): string {
  return replayTexts.estimate(matched, durationText(Math.ceil(matched / rate) * 1000), rate)
}
