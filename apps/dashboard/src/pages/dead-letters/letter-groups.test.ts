import type { DeadLetterGroup } from '@millrace/api-types'
import { expect, test } from 'vitest'
import { allUntil, letterGroups, narrowedTo, targetOf } from './letter-groups.ts'

const group = (fields: Partial<DeadLetterGroup>): DeadLetterGroup => ({
  destinationId: 'd',
  stage: 'delivery',
  reason: 'retry limit reached',
  lastStatus: 503,
  count: 1,
  oldestAt: '2026-03-04T09:00:00.000Z',
  newestAt: '2026-03-04T10:00:00.000Z',
  ...fields,
})

test('letters of one stage and reason are one group, wherever they were to go and whatever was answered last; largest first', () => {
  const groups = letterGroups([
    group({ count: 2, reason: 'answered 400', lastStatus: 400 }),
    group({ count: 3, lastStatus: 503 }),
    group({ count: 4, lastStatus: 500, oldestAt: '2026-03-04T08:00:00.000Z' }),
    group({ count: 1, destinationId: 'e', lastStatus: null, newestAt: '2026-03-04T11:00:00.000Z' }),
  ])
  expect(groups.map(({ reason, count, lastStatuses }) => [reason, count, lastStatuses])).toEqual([
    ['retry limit reached', 8, [500, 503]],
    ['answered 400', 2, [400]],
  ])
  expect(groups.map(({ destinationIds }) => destinationIds)).toEqual([['d', 'e'], ['d']])
  expect(targetOf([groups[0]!], String)).toBe('2 destinations')
  expect(targetOf([groups[1]!], (id) => `Name of ${id}`)).toBe('Name of d')
  expect([groups[0]!.oldestAt, groups[0]!.newestAt]).toEqual(['2026-03-04T08:00:00.000Z', '2026-03-04T11:00:00.000Z'])
})

test('a key tells groups apart and holds no text of the reason', () => {
  const reasons = ['TypeError: secret', 'TypeError: other', '']
  const keys = letterGroups(reasons.map((reason) => group({ reason }))).map(({ key }) => key)
  expect(new Set(keys).size).toBe(3)
  expect(keys.join()).not.toContain('TypeError')
})

test('a chosen group narrows the filters and leaves the others as they are', () => {
  const [chosen] = letterGroups([group({})])
  expect(narrowedTo({ userId: 'u', stage: 'delivery' }, chosen)).toEqual({
    userId: 'u',
    stage: 'delivery',
    reason: 'retry limit reached',
  })
  expect(narrowedTo({ userId: 'u' }, undefined)).toEqual({ userId: 'u' })
})

test('a job ends at the time of the question, or at the end of the filters', () => {
  const now = Date.parse('2026-03-04T10:00:00.000Z')
  expect(allUntil({ stage: 'delivery' }, now)).toEqual({
    filter: { stage: 'delivery', state: 'open', to: '2026-03-04T10:00:00.000Z' },
  })
  expect(allUntil({ to: '2026-03-01T00:00:00.000Z' }, now)).toMatchObject({
    filter: { to: '2026-03-01T00:00:00.000Z' },
  })
})
