import { expect, test } from 'vitest'
import { sectionOf } from './navigation.ts'

test.each([
  ['/', 'Home'],
  ['/sources/s1/setup', 'Sources'],
  ['/connections/c1', 'Sources'],
  ['/libraries', 'Transformations'],
  ['/libraries/l1/code', 'Transformations'],
  ['/librariesque', undefined],
  ['/oauth', undefined],
])('%s lies in the section %s', (path, text) => {
  expect(sectionOf(path)?.text).toBe(text)
})
