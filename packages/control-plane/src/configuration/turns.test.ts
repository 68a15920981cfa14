import { expect, test } from 'vitest'
import { MILLRACE } from '../people/author.ts'
import { TestPlane } from '../testing/test-plane.ts'

const RESOURCES = 2_000

test('planning and applying thousands of resources take turns with everything else that goes on', async () => {
  await using plane = await TestPlane.open()
  const { configuration } = plane.plane
  const sources = Object.fromEntries(
    Array.from({ length: RESOURCES }, (_, i) => [`s-${i}`, { name: `Source ${i}`, type: 'HTTP' }]),
  )
  const document = { millrace: 1, sources }
  expect(await turnsDuring(() => configuration.plan({ document }))).toBeGreaterThan(30)
  expect(await turnsDuring(() => configuration.apply(MILLRACE, { document, revision: 0 }))).toBeGreaterThan(60)
  expect(plane.plane.snapshot().sources.size).toBe(RESOURCES)
})

test('who asks while a big document is applied is answered meanwhile, with what was before', async () => {
  await using plane = await TestPlane.open()
  const token = await plane.token('viewer')
  const sources = Object.fromEntries(
    Array.from({ length: RESOURCES }, (_, i) => [`s-${i}`, { name: `Source ${i}`, type: 'HTTP' }]),
  )
  const applied = plane.plane.configuration.apply(MILLRACE, { document: { millrace: 1, sources }, revision: 0 })
  // The first use of the token is stored, too, while the transaction of the apply is open.
  const asked = plane.send('GET', '/v2/sources', { token }).then(({ body }) => body.paging.total)
  expect(await Promise.race([applied, asked])).toBe(0)
  await applied
  await plane.reopen()
  expect((await plane.send('GET', '/v2/sources', { token })).body.paging.total).toBe(RESOURCES)
})

test('of documents that come at the same time no more than eight are taken', async () => {
  await using plane = await TestPlane.open()
  const body = { document: { millrace: 1 } }
  const statuses = async () => {
    const plans = Array.from({ length: 9 }, () => plane.plane.configuration.plan(body))
    return (await Promise.allSettled(plans)).map((plan) => (plan.status === 'rejected' ? plan.reason.status : 200))
  }
  const expected = [...Array(8).fill(200), 503]
  expect(await statuses()).toEqual(expected)
  expect(await statuses()).toEqual(expected)
})

/** How often the event loop came round meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}
