import type { Replay } from '@millrace/api-types'
import { grouped } from '@millrace/wording'
import { CommandError, type CommandIo } from '../command-io.ts'
import type { ServerApi } from '../server-api.ts'

const PATIENCE_MS = 2_000
const ASK_AGAIN_MS = 500

/**
 * Follows a job over dead letters until it ends or is paused. On a terminal it shows the progress, after two seconds.
 * The job continues if the command is interrupted.
 */
export async function followReplay(id: string, api: ServerApi, { stderr, clock }: CommandIo): Promise<Replay> {
  const startedAt = clock.monotonic()
  let isShown = false
  for (;;) {
    const { replay } = await api.get<{ replay: Replay }>(`/v2/replays/${encodeURIComponent(id)}`)
    if (replay.finishedAt !== null || replay.state === 'paused') {
      if (isShown) stderr.write('\r\u001b[K')
      return replay
    }
    if (stderr.isTTY === true && clock.monotonic() - startedAt >= PATIENCE_MS) {
      isShown = true
      stderr.write(`\r${progress(replay)}\u001b[K`)
    }
    await new Promise<void>((resolve) => clock.setTimer(resolve, ASK_AGAIN_MS))
  }
}

/** A dry run that has counted. */
export type Counted = Replay & { readonly matched: number }

/** @throws CommandError if the dry run was cancelled, paused or failed, and so has no number. */
export function asCounted(replay: Replay, api: ServerApi): Counted {
  const { id, state, matched } = replay
  if (state === 'done' && matched !== null) return { ...replay, matched }
  throw new CommandError(
    `The count is ${state}.`,
    `Nothing was changed. The count: ${api.commandLine('replay', 'show', id)}`,
  )
}

function progress({ state, matched, delivered, filtered, deadLettered, discarded }: Replay): string {
  if (state === 'queued') return 'waiting for other replays'
  if (matched === null) return 'counting'
  return `${grouped(delivered + filtered + deadLettered + discarded)} of ${grouped(matched)}`
}
