import type { DestinationModule, RemoteBatchOutcome, RemoteOutcome } from '@millrace/destinations'
import type { StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest } from './testing/pipeline-under-test.ts'
import { outcomeOf, REMOTE_TYPE, requestTo } from './testing/remote-type.ts'
import { type Arrival, Sink, type SinkAnswer } from './testing/sink.ts'
import { track } from './testing/test-events.ts'

/*
 * Runs of several events by code that runs elsewhere (contracts/destination-catalog.md §9.3, delivery.md §4a). The code posts one
 * event as it is, and several as a list.
 */

const MAX_EVENTS = 10

interface Code {
  /** What a run says of its events; default: what the answer says of all of them. */
  judge?(events: readonly StoredEvent[], status: number): RemoteBatchOutcome
  /** How many units an event has. */
  readonly units?: number
}

function batchingModule({ judge = judgedByStatus, units = 1 }: Code): DestinationModule {
  return {
    definition: REMOTE_TYPE,
    transform: () => [],
    remote: {
      trouble: () => undefined,
      faultsIn: () => [],
      mappingEditor: () => ({}),
      units: () =>
        Array.from({ length: units }, (_, index) => {
          return { index, name: `unit ${index}`, batch: { key: String(index), maxEvents: MAX_EVENTS } }
        }),
      transform: async () => ({ requests: [], derivedSecrets: [], isPartial: false, rules: [] }),
      fieldOptions: async () => undefined,
      testConnection: async () => undefined,
      deliver: async (event, _unit, { config }, send) => {
        const answer = await send(requestTo(String(config['url']), JSON.stringify(event)))
        const status = 'noAnswer' in answer ? 500 : answer.status
        if (event.event === 'invalid') return { ...INVALID, stage: 'dest_transformation' }
        return outcomeOf(status)
      },
      maxBatch: () => MAX_EVENTS,
      deliverBatch: async (events, _unit, { config }, send) => {
        const answer = await send(requestTo(String(config['url']), JSON.stringify(events)))
        return judge(events, 'noAnswer' in answer ? 500 : answer.status)
      },
    },
  }
}

const INVALID = { kind: 'abort', status: 400, text: "The field 'a' is missing.", stage: 'dest_transformation' } as const

function judgedByStatus(_events: unknown, status: number): RemoteBatchOutcome {
  const all = outcomeOf(status)
  return { all, mayBeAboutOne: all.kind === 'abort' && [400, 413, 422].includes(status) }
}

async function started(code: Code, answer: SinkAnswer | ((arrival: Arrival) => SinkAnswer), concurrency = 1) {
  const sink = await Sink.start(answer)
  const d1 = { type: 'REMOTE', config: { url: sink.url }, delivery: { concurrency } }
  const run = await PipelineUnderTest.start({
    modules: [batchingModule(code)],
    destinations: { d1 },
    random: () => 0,
  })
  run.own(sink)
  return { run, sink }
}

const named = (names: readonly string[]) =>
  names.map((event, n) => ({ ...track(`m-${n}`), event, userId: `u-${n}`, anonymousId: `a-${n}` }))
const sizes = (sink: Sink) => sink.arrivals.map(({ events }) => events.length)
const isOf =
  (name: string) =>
  ({ event }: StoredEvent) =>
    event === name

test('an idle lane runs a single event by itself, and what is ready meanwhile goes in one run', async () => {
  const { run, sink } = await started({}, 'hang')
  await using _ = run
  await run.send(track('first'))
  expect(sizes(sink)).toEqual([1])
  await run.send(...named(Array(15).fill('good')))
  sink.release()
  await run.settle()
  expect(sizes(sink)).toEqual([1, 10, 5])
  expect(await run.outcome('m-14')).toBe('delivered')
})

test('each event has its own result, with its reason and stage, and its trace says how many were in the run', async () => {
  const results: Record<string, RemoteOutcome> = {
    invalid: INVALID,
    refused: { kind: 'abort', status: 404, text: 'no such seat', stage: 'delivery' },
    later: { kind: 'retry', status: 429, text: 'slowly', stage: 'delivery' },
  }
  const judge = (events: readonly StoredEvent[]): RemoteBatchOutcome => ({
    each: events.map(({ event }) => results[String(event)] ?? outcomeOf(202)),
  })
  const { run, sink } = await started({ judge }, 200)
  await using _ = run
  await run.send(...named(['good', 'invalid', 'refused', 'later']))
  expect(sizes(sink)).toEqual([4])
  expect(await run.outcome('m-0')).toBe('delivered')
  const letters = await run.deadLetters()
  expect(letters.map(({ stage, reason }) => [stage, reason]).toSorted()).toEqual([
    ['delivery', 'no such seat'],
    ['dest_transformation', INVALID.text],
  ])
  expect(await run.outcome('m-3')).toBe('retrying')
  const attempt = (await run.trace('m-3'))['d1']!.requests[0]!.attempts[0]
  expect(attempt).toMatchObject({ status: 429, class: 'retry', text: 'slowly', batch: 4 })
  expect((await run.trace('m-2'))['d1']!.requests[0]!.endpoint).toBe(sink.url)
})

test('a run that fails because of one event is halved until it is alone, and costs no other event', async () => {
  const refuses = ({ events }: Arrival): SinkAnswer => (events.some(isOf('bad')) ? 422 : 200)
  const { run, sink } = await started({}, refuses)
  await using _ = run
  await run.send(...named(['good', 'good', 'bad', 'good']))
  expect(sizes(sink)).toEqual([4, 2, 2, 1, 1])
  expect((await run.deadLetters()).map(({ event, reason }) => [JSON.parse(event).messageId, reason])).toEqual([
    ['m-2', 'answered 422'],
  ])
  for (const id of ['m-0', 'm-1', 'm-3']) expect(await run.outcome(id)).toBe('delivered')
})

test('an event at fault that ends alone shows the stage and text of its own run', async () => {
  const judge = (events: readonly StoredEvent[]): RemoteBatchOutcome =>
    events.some(isOf('invalid')) ? { all: INVALID, mayBeAboutOne: true } : { all: outcomeOf(200), mayBeAboutOne: false }
  const { run } = await started({ judge }, 200)
  await using _ = run
  await run.send(...named(['good', 'invalid']))
  expect((await run.deadLetters()).map(({ stage, reason }) => [stage, reason])).toEqual([
    ['dest_transformation', INVALID.text],
  ])
  expect(await run.outcome('m-0')).toBe('delivered')
})

test('a refusal that is about the whole run ends every event of it at once', async () => {
  const { run, sink } = await started({}, 404)
  await using _ = run
  await run.send(...named(['a', 'b', 'c']))
  expect(sizes(sink)).toEqual([3])
  expect((await run.deadLetters()).map(({ reason }) => reason)).toEqual(Array(3).fill('answered 404'))
})

test('a run without a good answer waits as a whole and goes again, also after a restart', async () => {
  const { run, sink } = await started({}, 503)
  await using _ = run
  await run.send(...named(['a', 'b', 'c']))
  expect((await run.state()).retrying).toBe(3)
  await run.restart()
  sink.answer = () => 200
  await run.advance(10 * MINUTE)
  expect(sizes(sink)[0]).toBe(3)
  for (const id of ['m-0', 'm-1', 'm-2']) expect(await run.outcome(id)).toBe('delivered')
})

test('events of a run that was lost run alone from then on', async () => {
  const lost: RemoteOutcome = { kind: 'retry', status: 504, text: 'WORKER_LOST', stage: 'delivery', isFault: true }
  const { run, sink } = await started({ judge: () => ({ all: lost, mayBeAboutOne: false }) }, 200)
  await using _ = run
  await run.send(...named(['a', 'b', 'c']))
  await run.advance(MINUTE)
  expect(sizes(sink)).toEqual([3, 1, 1, 1])
  for (const id of ['m-0', 'm-1', 'm-2']) expect(await run.outcome(id)).toBe('delivered')
})

test('events of one user never share a run, and those of several units run alone', async () => {
  const ofOneUser = await started({}, 200)
  await using _ = ofOneUser.run
  await ofOneUser.run.send(...named(['a', 'b', 'c']).map((event) => ({ ...event, userId: 'u' })))
  expect(sizes(ofOneUser.sink)).toEqual([1, 1, 1])
  const ofTwoUnits = await started({ units: 2 }, 200)
  await using __ = ofTwoUnits.run
  await ofTwoUnits.run.send(...named(['a', 'b']))
  expect(sizes(ofTwoUnits.sink)).toEqual([1, 1, 1, 1])
})

test('a call that the process ends in the middle of goes again, and nothing is lost', async () => {
  const { run, sink } = await started({}, 'hang')
  await using _ = run
  await run.send(...named(['a', 'b', 'c']))
  await run.restart()
  sink.release()
  await run.settle()
  const ids = sink.arrivals.flatMap(({ events }) => events.map(({ messageId }) => messageId))
  expect(new Set(ids)).toEqual(new Set(['m-0', 'm-1', 'm-2']))
  for (const id of ['m-0', 'm-1', 'm-2']) expect(await run.outcome(id)).toBe('delivered')
})
