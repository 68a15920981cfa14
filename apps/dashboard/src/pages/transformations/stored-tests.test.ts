import { expect, test } from 'vitest'
import { newTestId, withTest } from './stored-tests.ts'

const stored = (id: string, name = id) => ({ id, name, input: [{}], expectedOutput: [] })

test('a new test has an id of its own, whatever was removed before', () => {
  expect(newTestId([])).toBe('t1')
  expect(newTestId([stored('t1'), stored('t3')])).toBe('t4')
})

test('a test that is written anew keeps its place, and one that somebody removed comes back', () => {
  const tests = [stored('t1'), stored('t2'), stored('t3')]
  expect(withTest(tests, stored('t2', 'new')).map(({ name }) => name)).toEqual(['t1', 'new', 't3'])
  expect(withTest(tests.toSpliced(1, 1), stored('t2', 'new')).map(({ name }) => name)).toEqual(['t1', 't3', 'new'])
})
