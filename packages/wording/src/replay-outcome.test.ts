import { expect, test } from 'vitest'
import { type ReplayCounts, replayOutcome } from './replay-outcome.ts'

test.each<[Partial<ReplayCounts>, string]>([
  [{ deadLettered: 169 }, 'finished, 169 of 169 failed again'],
  [{ deadLettered: 9, delivered: 160 }, 'finished, 9 of 169 failed again, 160 of 169 delivered'],
  [{ delivered: 169 }, 'finished, 169 of 169 delivered'],
  [{ delivered: 100, filtered: 69 }, 'finished, 100 of 169 delivered, 69 filtered'],
  [
    { origin: 'log', delivered: 169, damaged: true },
    'finished, 169 of 169 delivered, without a damaged part of the log',
  ],
  [{ origin: 'log', deadLettered: 169 }, 'finished, 169 of 169 failed'],
  [{ state: 'running', delivered: 37, deadLettered: 3 }, 'running, 40 of 169 done, 3 failed again'],
  [{ state: 'running', delivered: 40 }, 'running, 40 of 169 done'],
  [{ state: 'running', matched: null }, 'running, counting'],
  [{ state: 'paused', delivered: 40 }, 'paused, 40 of 169 done'],
  [{ state: 'cancelled', delivered: 40, deadLettered: 1 }, 'cancelled, 1 of 169 failed again, 40 of 169 delivered'],
  [{ state: 'failed', matched: null }, 'failed'],
  [{ matched: 0 }, 'finished, no event matched'],
  [{ dryRun: true, matched: 1 }, 'finished, 1 event counted'],
  [{ kind: 'discard', discarded: 169 }, 'finished, 169 of 169 discarded'],
  [{ matched: 1204, delivered: 1204 }, 'finished, 1,204 of 1,204 delivered'],
])('%j reads %s', (given, text) => {
  const counts = { matched: 169, delivered: 0, filtered: 0, deadLettered: 0, discarded: 0 }
  expect(
    replayOutcome({ origin: 'dead_letters', kind: 'replay', dryRun: false, state: 'done', ...counts, ...given }),
  ).toBe(text)
})
