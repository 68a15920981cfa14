import type { Environment } from './environment.ts'
import { settingsList } from './settings.ts'

/**
 * Variables that look like settings but are unknown, as lines for people. They are not an error: another version may
 * know them.
 */
export function unknownSettings(env: Environment): string[] {
  const known = settingsList({}).map(({ name }) => name)
  return Object.keys(env)
    .filter((name) => /^MILLRACE_/i.test(name) && !known.includes(name))
    .sort()
    .map((name) => {
      const meant = nearest(name, known)
      return `${name} is not a setting and is ignored${meant === undefined ? '' : `; did you mean ${meant}?`}`
    })
}

const MAX_DISTANCE = 3

/** The most similar of a few texts, if it is similar enough. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = MAX_DISTANCE + 1
  for (const each of known) {
    const distance = editDistance(written.toUpperCase(), each.toUpperCase())
    if (distance < bestDistance) [best, bestDistance] = [each, distance]
  }
  return best
}

/** The number of letters to insert, delete or replace to turn one text into the other. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1))
    }
    above = row
  }
  return above.at(-1)!
}
