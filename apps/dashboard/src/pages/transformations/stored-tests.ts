import type { TransformationTest } from '@millrace/api-types'

/** The tests of a transformation, which are saved together. */
export interface StoredTests {
  readonly tests: readonly TransformationTest[]
  readonly etag: string | null
}

/** The first unused id of `t1`, `t2` …. */
export function newTestId(tests: readonly Pick<TransformationTest, 'id'>[]): string {
  const taken = new Set(tests.map(({ id }) => id))
  let n = tests.length + 1
  while (taken.has(`t${n}`)) n++
  return `t${n}`
}

/** The tests with one replaced; appended if it is new or was removed. */
export function withTest(
  tests: readonly TransformationTest[],
  test: TransformationTest,
): readonly TransformationTest[] {
  const at = tests.findIndex(({ id }) => id === test.id)
  return at === -1 ? [...tests, test] : tests.with(at, test)
}
