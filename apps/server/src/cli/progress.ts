import type { CommandIo } from './command-io.ts'

const PATIENCE_MS = 2_000
const STEP_MS = 1_000

/**
 * Shows on a terminal what a command waits for, after two seconds: `waiting for …, 3 s`. It clears the line at the end,
 * and writes nothing to stdout.
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
