import { expect, test } from 'vitest'
import { LastAnswers } from './last-answers.ts'

test('an answer like the last one of its path is the same object; any other is read anew', () => {
  const last = new LastAnswers()
  const first = last.read('/v2/sources', '{"sources":[1]}')
  expect(last.read('/v2/sources', '{"sources":[1]}')).toBe(first)
  expect(last.read('/v2/destinations', '{"sources":[1]}')).not.toBe(first)
  expect(last.read('/v2/sources', '{"sources":[2]}')).toEqual({ sources: [2] })
  expect(last.read('/v2/sources', '{"sources":[1]}')).not.toBe(first)
})

test('paths that are not asked for any more are forgotten', () => {
  const last = new LastAnswers()
  const early = last.read('/early', '{}')
  const used = last.read('/used', '{}')
  for (let n = 0; n < 99; n++) {
    last.read(`/${n}`, '{}')
    last.read('/used', '{}')
  }
  expect(last.read('/used', '{}')).toBe(used)
  expect(last.read('/early', '{}')).not.toBe(early)
})
