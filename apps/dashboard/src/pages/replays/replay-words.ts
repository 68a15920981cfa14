import { counted, durationText, grouped } from '@millrace/wording'
import { isRunning, type Replay, type ReplayState } from '../../api/replays.ts'
import type { MarkKind } from '../../components/state-mark.tsx'
import { replayTexts } from '../../texts.ts'

export const STATE_MARKS: Readonly<Record<ReplayState, MarkKind>> = {
  queued: 'waiting',
  running: 'behind',
  paused: 'off',
  done: 'ok',
  cancelled: 'off',
  failed: 'failed',
}

/** What a job does: `Replay of the log`, `Dead letters again`. */
export function replayKind({ origin, kind, dryRun }: Pick<Replay, 'origin' | 'kind' | 'dryRun'>): string {
  const what =
    origin === 'log' ? 'Replay of the log' : kind === 'discard' ? 'Dead letters discarded' : 'Dead letters again'
  return dryRun ? `${what}, counted only` : what
}

/** How much of it has found its end. */
function replayDone({ delivered, filtered, deadLettered, discarded }: Replay): number {
  return delivered + filtered + deadLettered + discarded
}

export function progressText(replay: Replay): string {
  const { matched, dryRun } = replay
  if (matched === null) return 'counting …'
  return dryRun ? counted(matched, 'event') : `${grouped(replayDone(replay))} of ${grouped(matched)}`
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
