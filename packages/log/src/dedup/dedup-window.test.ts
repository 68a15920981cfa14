import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { DedupWindow } from './dedup-window.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

// Keys that differ in few bits of their lower half lie side by side in the table, where gaps have to be closed.
test.each([
  ['few keys, all neighbours', 40, 64],
  ['more keys than there is room for', 3_000, 256],
  ['enough to grow several times', 60_000, 50_000],
])('knows the newest entries as a plain list does: %s', (_, keys, maxEntries) => {
  const random = randomFrom(SEED)
  const window = new DedupWindow(10_000, maxEntries)
  // Every entry that was ever added; those before `first` have left. A key's newest entry is at `latest`.
  const list: { readonly key: number; readonly at: number }[] = []
  const latest = new Map<number, number>()
  let first = 0
  let at = 0
  for (let step = 0; step < 150_000; step++) {
    at += random() < 0.0005 ? 20_000 : Math.floor(random() * 2)
    const key = Math.floor(random() * keys)
    const [low, high] = [key % 512, key >> 9]
    if (random() < 0.5) {
      const place = latest.get(key) ?? -1
      const expected = place < first ? undefined : list[place]!.at
      const known = window.acceptedAt(low, high)
      if (known !== expected) throw new Error(`SEED=${SEED}, step ${step}: ${known} instead of ${expected}`)
      continue
    }
    window.add(low, high, at)
    while (first < list.length && list[first]!.at <= at - 10_000) first++
    if (list.length - first === maxEntries) first++
    latest.set(key, list.length)
    list.push({ key, at })
  }
  expect(window.size).toBe(list.length - first)
})
