import type { TransformationTest } from '../../api/transformations.ts'

/** `t1`, `t2` …: the first that no test has. */
export function newTestId(tests: readonly Pick<TransformationTest, 'id'>[]): string {
  const taken = new Set(tests.map(({ id }) => id))
  let n = tests.length + 1
  while (taken.has(`t${n}`)) n++
  return `t${n}`
}
