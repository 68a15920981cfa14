import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { foldSeed, masked, SamplePriorities, samplePriority } from './samples.ts'

const EVENTS = 40
const BATCH = 4
const MOST = 5
const RUNS = 8_000

test('over many runs each event is equally likely to be a sample', () => {
  const chosen = new Array<number>(EVENTS).fill(0)
  for (let run = 0; run < RUNS; run++) for (const event of samplesOf(run % 7)) chosen[event]!++
  const expected = (RUNS * MOST) / EVENTS
  // Drawn without replacement: a little less than a χ² of 39 degrees of freedom, which is above 90 once in 200,000 runs.
  const chiSquare = chosen.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  expect(chiSquare).toBeLessThan(90)
})

test('the smallest of two parts are those of the whole', () => {
  const priorities = Array.from({ length: 100 }, (_, i) => samplePriority(3, 1, 2, i))
  const kept = (part: readonly number[]) => {
    const samples = new SamplePriorities(MOST, [])
    const all = new Set<number>()
    for (const priority of part) {
      if (priority >= samples.bound) continue
      all.add(priority)
      const displaced = samples.add(priority)
      if (displaced !== undefined) all.delete(displaced)
    }
    return [...all].sort((a, b) => a - b)
  }
  const parts = [...kept(priorities.slice(0, 40)), ...kept(priorities.slice(40))]
  expect(kept(parts)).toEqual(kept(priorities))
  expect(kept(priorities)).toEqual(priorities.toSorted((a, b) => a - b).slice(0, MOST))
})

test('a masked event has the members of the event, whatever they are called', () => {
  const event = JSON.parse('{"a":"x","__proto__":{"b":1},"list":[true,null,"y"],"empty":{}}')
  expect(JSON.stringify(masked(event))).toBe(
    '{"a":"string","__proto__":{"b":"float64"},"list":["bool",null,"string"],"empty":{}}',
  )
})

/** The events that one owner keeps of a stream with new seeds. */
function samplesOf(owner: number): number[] {
  const samples = new SamplePriorities(MOST, [])
  const kept = new Map<number, number>()
  for (let batch = 0; batch < EVENTS / BATCH; batch++) {
    const seed = randomBytes(16)
    for (let i = 0; i < BATCH; i++) {
      const priority = samplePriority(owner, foldSeed(seed, 0), foldSeed(seed, 8), i)
      if (priority >= samples.bound) continue
      kept.set(priority, batch * BATCH + i)
      const displaced = samples.add(priority)
      if (displaced !== undefined) kept.delete(displaced)
    }
  }
  return [...kept.values()]
}
