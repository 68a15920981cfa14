import type { DestinationModule, RemoteCode } from '@millrace/destinations'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest } from './testing/pipeline-under-test.ts'
import { outcomeOf, REMOTE_TYPE, requestTo } from './testing/remote-type.ts'
import { Sink } from './testing/sink.ts'
import { track } from './testing/test-events.ts'

/*
 * How a lane delivers the units of code that runs elsewhere. The code is written here; that of the catalog runs in
 * tests/e2e/destination-catalog.test.ts.
 */

/** Sends the paths of a unit one after the other; an answer outside 2xx ends it. */
function remoteModule(units: readonly string[][]): DestinationModule {
  const remote: RemoteCode = {
    trouble: () => undefined,
    faultsIn: () => [],
    mappingEditor: () => ({}),
    units: () => units.map((paths, index) => ({ index, name: paths.join(' ') })),
    transform: async () => ({ requests: [], derivedSecrets: [], isPartial: false, rules: [] }),
    maxBatch: () => 1,
    deliverBatch: async () => ({ each: [] }),
    fieldOptions: async () => undefined,
    testConnection: async () => undefined,
    deliver: async (event, unit, { config }, send) => {
      let status = 200
      for (const path of units[unit.index]!) {
        const answer = await send(requestTo(`${config['url']}${path}`, JSON.stringify(event)))
        status = 'noAnswer' in answer ? 500 : answer.status
        if (status >= 300) break
      }
      return outcomeOf(status)
    },
  }
  return { definition: REMOTE_TYPE, transform: () => [], remote }
}

async function started(units: readonly string[][], answer: Parameters<typeof Sink.start>[0]) {
  const sink = await Sink.start(answer)
  const modules = [remoteModule(units)]
  const d1 = { type: 'REMOTE', config: { url: sink.url } }
  const run = await PipelineUnderTest.start({ modules, destinations: { d1 }, random: () => 0 })
  run.own(sink)
  return { run, sink }
}

const paths = (sink: Sink) => sink.arrivals.map(({ path }) => path.slice('/in'.length))

test('a unit that is to be retried holds the later ones, and those before it are sent once', async () => {
  const { run, sink } = await started([['/a'], ['/b'], ['/c']], ({ path, n }) =>
    path === '/in/b' && n < 3 ? 503 : 200,
  )
  await using _ = run
  await run.send(track('m'))
  await run.advance(30 * MINUTE)
  expect(await run.outcome('m')).toBe('delivered')
  expect(paths(sink)).toEqual(['/a', '/b', '/b', '/b', '/c'])
})

test('423 is retried although other destinations give up on it', async () => {
  const { run, sink } = await started([['/a']], ({ n }) => (n === 1 ? 423 : 200))
  await using _ = run
  await run.send(track('m'))
  await run.advance(MINUTE)
  expect(await run.outcome('m')).toBe('delivered')
  expect(paths(sink)).toEqual(['/a', '/a'])
})

test('within a unit only the request that failed is sent again', async () => {
  const { run, sink } = await started([['/1', '/2', '/3']], ({ path, n }) => (path === '/in/3' && n === 1 ? 503 : 200))
  await using _ = run
  await run.send(track('m'))
  await run.advance(MINUTE)
  expect(await run.outcome('m')).toBe('delivered')
  expect(paths(sink)).toEqual(['/1', '/2', '/3', '/3'])
})

test('an aborted unit does not stop the later ones; the event ends as a dead letter, also after a restart', async () => {
  const { run, sink } = await started([['/a'], ['/b']], ({ path, n }) => {
    return path === '/in/a' ? 400 : n === 1 ? 503 : 200
  })
  await using _ = run
  await run.send(track('m'))
  await run.restart()
  await run.advance(MINUTE)
  expect(await run.outcome('m')).toBe('dead_lettered: answered 400')
  expect(paths(sink)).toEqual(['/a', '/b', '/b'])
})

test('Retry-After of an answer within a unit is heeded', async () => {
  const { run, sink } = await started([['/a']], ({ n }) => {
    return n === 1 ? { status: 429, headers: { 'retry-after': '45' } } : 200
  })
  await using _ = run
  await run.send(track('m'))
  await run.advance(44_999)
  expect(paths(sink)).toEqual(['/a'])
  await run.advance(MINUTE)
  expect(paths(sink)).toEqual(['/a', '/a'])
})

test('an answer that loses its body is none for the code, which may read it', async () => {
  const { run, sink } = await started([['/a']], ({ n }) => (n === 1 ? { status: 200, isLost: true } : 200))
  await using _ = run
  await run.send(track('m'))
  expect(await run.outcome('m')).toBe('retrying')
  await run.advance(MINUTE)
  expect(await run.outcome('m')).toBe('delivered')
  expect(paths(sink)).toEqual(['/a', '/a'])
})

test('a request without an answer within the time that the code allows is retried', async () => {
  const { run, sink } = await started([['/a']], ({ n }) => (n === 1 ? 'hang' : 200))
  await using _ = run
  await run.send(track('m'))
  await run.advance(MINUTE)
  expect(paths(sink)).toEqual(['/a', '/a'])
  expect((await run.trace('m'))['d1']!.requests[0]!.attempts[0]).toMatchObject({
    status: 500,
    class: 'retry',
    text: '[ETIMEDOUT] :: Operation timed out',
  })
})
