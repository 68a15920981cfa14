import { expect, test } from 'vitest'
import { LogLines } from './log-lines.ts'

const KB4 = 'x'.repeat(4 * 1024)

test('of all lines together no more than 32 MB are kept: those of the longest silent go first', () => {
  const lines = new LogLines()
  const many = Array.from({ length: 1_000 }, (_, n) => ({ at: n, destinationId: 'd', messageId: 'm', line: KB4 }))
  const kept = () => Array.from({ length: 10 }, (_, n) => n).filter((n) => lines.of(`t-${n}`).length > 0)
  for (let n = 0; n < 8; n++) lines.add(`t-${n}`, many)
  expect(kept()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  lines.add('t-0', many.slice(0, 1))
  lines.add('t-8', many)
  lines.add('t-9', many)
  expect(kept()).toEqual([0, 3, 4, 5, 6, 7, 8, 9])
  expect(lines.of('t-0')).toHaveLength(1_000)
})
