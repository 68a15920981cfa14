import { expect, test } from 'vitest'
import { TestClock } from '../testing/test-clock.ts'
import { newReachability } from './reachability.ts'

const URL = 'https://events.example.com/base'

function reachability(isOnline: () => boolean = () => true) {
  const clock = new TestClock()
  const lines: string[] = []
  const judge = newReachability(clock, isOnline, (level, text) => lines.push(`${level} ${text}`))
  /** The answer comes a turn later, when a violation would have been heard. */
  const why = () => {
    const answer = judge.why(URL)
    clock.advance(0)
    return answer
  }
  return { judge, lines, why }
}

test('three failures in a row while online are told once, at every level', async () => {
  const { lines, why } = reachability()
  for (let failure = 0; failure < 5; failure++) expect(await why()).toBe('RETRY_LATER')
  expect(lines).toEqual([
    '0 Cannot reach https://events.example.com. Check the address, CORS and Content-Security-Policy.',
  ])
})

test('an answer in between ends the row', async () => {
  const { judge, lines, why } = reachability()
  for (let failure = 0; failure < 5; failure++) {
    await why()
    if (failure % 2 === 1) judge.answered()
  }
  expect(lines).toEqual([])
})

test('offline nothing is told', async () => {
  const { lines, why } = reachability(() => false)
  for (let failure = 0; failure < 5; failure++) expect(await why()).toBe('OFFLINE')
  expect(lines).toEqual([])
})

test('a violation of the policy is told once, and only of this origin', async () => {
  const { judge, lines, why } = reachability()
  judge.violated('https://other.example.com/x')
  expect(await why()).toBe('RETRY_LATER')
  judge.violated('https://events.example.com/base/v1/batch')
  expect([await why(), await why()]).toEqual(['CSP_BLOCKED', 'CSP_BLOCKED'])
  expect(lines).toEqual([
    "0 The page's Content-Security-Policy blocks https://events.example.com. Add it to connect-src.",
  ])
})
