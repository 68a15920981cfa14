import { type DestinationModule, DestinationRegistry } from '@millrace/destinations'
import { expect, test } from 'vitest'
import { HOUR, PipelineUnderTest, SECOND, START } from '../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../testing/routes-under-test.ts'
import { Sink } from '../testing/sink.ts'
import { track } from '../testing/test-events.ts'

const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!

/** Fails at events that say so, beside a webhook that does not. */
async function withFaulty(faults: Partial<DestinationModule>) {
  const sink = await Sink.start(200)
  const faulty: DestinationModule = { ...webhook, ...faults, definition: { ...webhook.definition, name: 'FAULTY' } }
  const config = { webhookUrl: sink.url }
  const run = await PipelineUnderTest.start({
    modules: [faulty],
    destinations: { faulty: { type: 'FAULTY', config }, healthy: { config: { webhookUrl: `${sink.url}/healthy` } } },
  })
  run.own(sink)
  return { run, sink }
}

const fail = (): never => {
  throw new Error('no seat for this event')
}
const isBad = (event: { messageId: string }) => event.messageId.startsWith('bad')
const refused = 'dead_lettered: no seat for this event'

test.each<[member: string, faults: Partial<DestinationModule>, outcome: string]>([
  ['accepts', { accepts: (type) => (type === 'page' ? fail() : true) }, refused],
  ['wants', { wants: (event) => (isBad(event) ? fail() : true) }, refused],
  [
    'transform',
    { transform: (event, context) => (isBad(event) ? fail() : webhook.transform(event, context)) },
    refused,
  ],
  ['refusal', { refusal: (event) => (isBad(event) ? fail() : undefined) }, refused],
  [
    'refusal, with what is no text',
    { refusal: (event) => (isBad(event) ? (7 as never) : undefined) },
    'dead_lettered: `refusal` of the destination returned an invalid value',
  ],
  ['sign', { sign: ({ body }) => (body.includes('bad') ? fail() : {}) }, refused],
  ['classify', { classify: ({ body }) => (String(body).includes('bad') ? fail() : undefined) }, refused],
  [
    'wants, which answers later',
    { wants: ((event: { messageId: string }) => (isBad(event) ? Promise.reject(new Error('late')) : true)) as never },
    'dead_lettered: `wants` of the destination returned an invalid value',
  ],
  [
    'sign, with what is no header',
    { sign: ({ body }) => (body.includes('bad') ? ({ signature: 7 } as never) : {}) },
    'dead_lettered: `sign` of the destination returned an invalid value',
  ],
  [
    'classify, with a class that does not exist',
    { classify: ({ body }) => (String(body).includes('bad') ? ('maybe' as never) : undefined) },
    'dead_lettered: `classify` of the destination returned an invalid value',
  ],
  [
    'classify, with a number that is no status',
    { classify: ({ body }) => (String(body).includes('bad') ? 40 : undefined) },
    'dead_lettered: `classify` of the destination returned an invalid value',
  ],
])('a fault of `%s` is the failure of that event at that destination', async (_, faults, outcome) => {
  const { run, sink } = await withFaulty(faults)
  await using _run = run
  sink.answer = ({ event }) => ({
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: event.messageId,
  })
  await run.send(track('before', 'u'), { ...track('bad-1', 'u'), type: 'page' }, track('behind', 'u'))
  await run.send(track('later', 'u'))
  expect(await run.outcome('bad-1', 'faulty')).toBe(outcome)
  expect(await run.outcome('bad-1', 'healthy')).toBe('delivered')
  for (const id of ['before', 'behind', 'later']) {
    expect(await run.outcome(id, 'faulty')).toBe('delivered')
    expect(await run.outcome(id, 'healthy')).toBe('delivered')
  }
  const healthy = sink.arrivals.filter(({ path }) => path.endsWith('/healthy')).map(({ event }) => event.messageId)
  expect(healthy).toEqual(['before', 'bad-1', 'behind', 'later'])
  expect(await run.delivery.trouble()).toBe(undefined)
  expect(await run.deadLetters()).toMatchObject([{ destinationId: 'faulty', stage: 'dest_transformation' }])
})

test('an event that fails in `wants` fails again in a replay of its dead letter, and in one of the log; the job ends', async () => {
  const { run } = await withFaulty({ wants: (event) => (isBad(event) ? fail() : true) })
  await using _run = run
  await run.send(track('bad-1', 'u'), track('good', 'u'))
  const routes = new RoutesUnderTest(run)
  const ofLetters = await routes.job('/v2/dead-letters/replay', { filter: { state: 'open' } })
  await run.advance(SECOND)
  expect(await routes.replay(ofLetters.id)).toMatchObject({ state: 'done', matched: 1, deadLettered: 1 })
  const hours = { from: new Date(START - HOUR).toISOString(), to: new Date(START + HOUR).toISOString() }
  const ofLog = await routes.replayLog({ sourceIds: ['s1'], destinationIds: ['faulty'], ...hours })
  await run.advance(SECOND)
  expect(await routes.replay(ofLog.id)).toMatchObject({ state: 'done', matched: 2, delivered: 1, deadLettered: 1 })
  await run.restart()
  expect(await run.deadLetters({ state: 'replaying' })).toEqual([])
})

test('secrets in the text of such a fault are masked', async () => {
  const signingSecret = 'canary-secret-of-the-cinema'
  const { run } = await withFaulty({
    wants: (_, config) => {
      throw new Error(`cannot use ${config['signingSecret']}`)
    },
  })
  await using _run = run
  await run.change('faulty', { config: { webhookUrl: 'http://127.0.0.1:1', signingSecret } })
  await run.send(track('m-1'))
  expect(await run.outcome('m-1', 'faulty')).toBe('dead_lettered: cannot use ********')
})

test('those who watch outcomes change none of them', async () => {
  const { run, sink } = await PipelineUnderTest.withSink()
  await using _ = run
  run.delivery.delivered.add(() => fail())
  await run.send(track('m-1'), track('m-2'))
  await run.advance(SECOND)
  expect([await run.outcome('m-1'), await run.outcome('m-2')]).toEqual(['delivered', 'delivered'])
  expect(sink.messageIds).toEqual(['m-1', 'm-2'])
  expect(run.logged.map(({ text }) => text)).toContain('an outcome cannot be sent to the live view')
})
