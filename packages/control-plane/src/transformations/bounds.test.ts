import { expect, test } from 'vitest'
import { moduleRuntime } from '../testing/module-runtime.ts'
import { TestPlane } from '../testing/test-plane.ts'
import type { CodeRuntime } from './code-runtime.ts'

const PASS = 'export function transformEvent(event) { return event }'

test('of test runs that come at the same time sixteen are taken, of code to be judged sixty-four', async () => {
  const held: (() => void)[] = []
  const untilReleased = () => new Promise<void>((resolve) => held.push(resolve))
  const slow: CodeRuntime = {
    check: (...given) => untilReleased().then(() => moduleRuntime.check(...given)),
    run: (run) => moduleRuntime.run(run),
  }
  await using plane = await TestPlane.open({ code: slow })
  const statuses = async (path: string, count: number, body: object) => {
    const answers = Array.from({ length: count }, () => plane.send('POST', path, { body }))
    const [first] = await Promise.all([Promise.race(answers), releasing(held, count - 1)])
    expect(first!.body).toEqual({ error: 'Service unavailable', code: 'unavailable', details: null })
    return (await Promise.all(answers)).map(({ status }) => status).sort()
  }
  const tested = await statuses('/v2/transformations/test', 17, { code: PASS, events: [{}] })
  expect(tested).toEqual([...Array(16).fill(200), 503])
  const judged = await statuses('/v2/transformations', 65, { name: 'n', code: `${PASS} // not judged yet` })
  expect(judged).toEqual([...Array(64).fill(200), 503])
})

/** Lets all go on once so many are held. */
async function releasing(held: (() => void)[], count: number): Promise<void> {
  while (held.length < count) await new Promise((resolve) => setImmediate(resolve))
  for (const release of held.splice(0)) release()
}

test('a change does not wait for the sandbox: what it saves was judged ahead, and once', async () => {
  const judged: string[] = []
  const counting: CodeRuntime = {
    check: (code, libraries) => {
      judged.push(`${code.kind} with ${libraries.length}`)
      return moduleRuntime.check(code, libraries)
    },
    run: (run) => moduleRuntime.run(run),
  }
  await using plane = await TestPlane.open({ code: counting })
  const document = {
    millrace: 1,
    libraries: { one: { name: 'one', code: 'export const one = 1' } },
    transformations: { t: { name: 'T', code: `import { one } from "one"\n${PASS}` } },
  }
  await plane.ok('POST', '/v2/config/apply', { document, revision: 0 })
  expect(judged.splice(0)).toEqual(['library with 0', 'transformation with 1'])

  const [{ id, publishedVersionId }] = (await plane.ok('GET', '/v2/transformations')).transformations
  const [library] = (await plane.ok('GET', '/v2/libraries')).libraries
  await plane.ok('PUT', `/v2/libraries/${library.id}?publish=true`, { name: 'one', code: 'export const one = 2' })
  await plane.ok('POST', `/v2/transformations/${id}/versions/${publishedVersionId}/publish`)
  expect(judged).toEqual(['library with 0', 'transformation with 1'])
})
