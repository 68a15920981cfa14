import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { Usage } from './usage.ts'

// Promises of contracts/transformations.md §8: each destination's share of the processes.

const long = (ms: number) => ({ ms, heldMs: ms })
const short = (ms: number) => ({ ms, heldMs: 0 })

test('what a destination has used is forgotten after a minute, as it was used', async () => {
  const clock = new ManualClock(0)
  const usage = new Usage(clock, 2)
  for (let at = 0; at < 60; at += 10) {
    usage.add('a', short(100))
    await clock.advance(10_000)
  }
  expect(usage.usedBy('a')).toBe(500)
  await clock.advance(20_000)
  expect(usage.usedBy('a')).toBe(300)
  await clock.advance(40_000)
  expect(usage.usedBy('a')).toBe(0)
  usage.add('a', short(1))
  await clock.advance(3_600_000)
  expect(usage.usedBy('a')).toBe(0)
})

test('over its share is a destination whose runs hold up others for too long, and none that is alone', async () => {
  const clock = new ManualClock(0)
  const usage = new Usage(clock, 2)
  usage.add('slow', long(6_100))
  expect(usage.isOverShare('slow')).toBe(false)
  usage.add('quick', short(60_000))
  expect(['slow', 'quick'].map((key) => usage.isOverShare(key))).toEqual([true, false])
  await clock.advance(70_000)
  usage.add('quick', short(1))
  expect(usage.isOverShare('slow')).toBe(false)
})

test('the more destinations there are, the smaller is the share, down to a second', () => {
  const usage = new Usage(new ManualClock(0), 2)
  usage.add('slow', long(1_400))
  for (let n = 1; n < 8; n++) usage.add(`d-${n}`, short(1))
  expect(usage.isOverShare('slow')).toBe(false)
  usage.add('d-8', short(1))
  expect(usage.isOverShare('slow')).toBe(true)
  usage.add('slower', long(990))
  for (let n = 9; n < 500; n++) usage.add(`d-${n}`, short(1))
  expect(usage.isOverShare('slower')).toBe(false)
})
