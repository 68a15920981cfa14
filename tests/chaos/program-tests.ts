import { carryOut, programs } from '@millrace/chaos'
import { expect, test } from 'vitest'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
/** For closing what a program had opened when it was given up. */
const CLOSING_SECONDS = 20

/**
 * A test of each reliability program, in its short form unless said otherwise; `npm run chaos` runs them in full (docs/chaos.md).
 *
 * @param threads delivery threads of the product; those of the program unless given.
 */
export function testPrograms(
  isMeant: (id: string) => boolean,
  threads?: number,
  size: 'short' | 'full' = 'short',
): void {
  for (const program of programs.filter(({ id }) => isMeant(id))) {
    const { id, title, limitSeconds, cannotRun } = program
    const reason = cannotRun?.()
    if (reason !== undefined) process.stderr.write(`SKIPPED, ${id} ${title}: ${reason}\n`)
    const timeout = (limitSeconds[size] + CLOSING_SECONDS) * 1_000
    const suffix = threads === undefined ? '' : `, with ${threads} delivery threads`
    test.skipIf(reason !== undefined)(`${id} holds: ${title}${suffix}`, { timeout }, async () => {
      const { verdict, line } = await carryOut(program, { size, seed: SEED, threads, say: () => {} })
      process.stdout.write(`${line}\n`)
      expect(verdict, line).toBe('held')
    })
  }
}
