import type { CommandIo } from './command-io.ts'

const PATIENCE_MS = 2_000
const STEP_MS = 1_000

/**
 * Says on a terminal what is waited for, once that takes longer than two seconds: `waiting for …, 3 s`. The line is
 * gone when the wait is over, and nothing of it is on stdout.
 */
export async function during<T>(
  what: string,
  { stderr, clock }: Pick<CommandIo, 'stderr' | 'clock'>,
  work: Promise<T>,
) {
  if (stderr.isTTY !== true) return work
  const startedAt = clock.monotonic()
  let isShown = false
  const show = () => {
    isShown = true
    stderr.write(`\r${what}, ${Math.floor((clock.monotonic() - startedAt) / 1000)} s\u001b[K`)
    timer = clock.setTimer(show, STEP_MS)
  }
  let timer = clock.setTimer(show, PATIENCE_MS)
  try {
    return await work
  } finally {
    timer.cancel()
    if (isShown) stderr.write('\r\u001b[K')
  }
}
