import { expect, test } from 'vitest'
import { activityBySource } from './source-activity.ts'

function stats(accepted: readonly (number | null)[]) {
  const source = { id: 's', accepted, refused: [], lastEventAt: '2026-03-04T09:15:30.000Z' }
  return { from: '', to: '', stepSeconds: 10, sources: [source], transformations: [], destinations: [] }
}

test.each([
  ['six steps of a minute', [10, 0, 20, 0, 0, 30], 60],
  ['steps that are not known count as no time', [null, null, null, null, 10, 10], 60],
  ['nothing is known', [null, null], null],
  ['nothing came', [0, 0, 0], 0],
])('events a minute: %s', (_what, accepted, perMinute) => {
  expect(activityBySource(stats(accepted)).get('s')?.perMinute).toBe(perMinute)
})

test('before the first answer nothing is known of any source', () => expect(activityBySource(undefined).size).toBe(0))
