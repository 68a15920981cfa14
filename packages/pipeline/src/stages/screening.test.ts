import { MemoryEventLog } from '@millrace/log'
import type { ConnectionRules } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START } from '../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../testing/routes-under-test.ts'
import { track } from '../testing/test-events.ts'
import { Screening } from './screening.ts'

const NO_DEBUG: ConnectionRules = {
  otherwise: 'allow',
  list: [
    { action: 'allow', types: ['page'] },
    { action: 'deny', events: { match: 'prefix', names: ['Debug'] } },
  ],
}
const ONLY_LARGE: ConnectionRules = {
  otherwise: 'deny',
  list: [{ action: 'allow', conditions: [{ path: 'properties.value', operator: 'at_least', value: 100 }] }],
}
const GRANTED = { consent: { categoryPreferences: { Advertising: true } } }
const DENIED = { consentManagement: { allowedConsentIds: [], deniedConsentIds: ['Advertising'] } }

/** One destination `d1`, connected with `s1` and `s2`. */
async function connected() {
  const { run, sink } = await PipelineUnderTest.withSink(200, { sources: ['s1', 's2'] })
  const rules = (source: string, rules: ConnectionRules | undefined) => {
    const id = `${source}-d1`
    run.connections.set(id, { ...run.connections.get(id)!, rules })
  }
  return { run, sink, rules }
}

test('the rules of a connection hold for its source alone, and the trace has the number of the rule', async () => {
  const { run, sink, rules } = await connected()
  await using _ = run
  rules('s1', NO_DEBUG)
  await run.configure()
  await run.send(track('seat'), track('debug', '', { event: 'Debug Seat' }), {
    type: 'page',
    name: 'Debug',
    messageId: 'page',
  })
  await run.accept([track('other', '', { event: 'Debug Seat' })], { source: 's2' })
  await run.settle()
  expect(await run.outcome('seat')).toBe('delivered')
  expect(await run.outcome('debug')).toBe('filtered: connection rule 2')
  expect(await run.outcome('page')).toBe('delivered')
  expect(await run.outcome('other')).toBe('delivered')
  expect(sink.messageIds.sort()).toEqual(['other', 'page', 'seat'])
})

test('an event that no rule allows is filtered where otherwise denies, and a change governs the next event', async () => {
  const { run, rules } = await connected()
  await using _ = run
  rules('s1', ONLY_LARGE)
  await run.configure()
  await run.send(track('small', '', { properties: { value: 99 } }), track('large', '', { properties: { value: 100 } }))
  rules('s1', undefined)
  await run.configure()
  await run.send(track('later', '', { properties: { value: 1 } }))
  expect(await run.outcome('small')).toBe('filtered: no connection rule')
  expect(await run.outcome('large')).toBe('delivered')
  expect(await run.outcome('later')).toBe('delivered')
})

test('a destination that asks for consent gets what grants it, and without consent the source decides', async () => {
  const { run } = await connected()
  await using _ = run
  await run.change('d1', { consent: { categories: ['Advertising'], require: 'all' } })
  run.sources.set('s2', { ...run.sources.get('s2')!, config: { withoutConsent: 'hold_back' } })
  await run.configure()
  await run.send(track('granted', '', { context: GRANTED }), track('denied', '', { context: DENIED }), track('silent'))
  await run.accept([track('held'), track('held-granted', '', { context: GRANTED })], { source: 's2' })
  await run.settle()
  expect(await run.outcome('granted')).toBe('delivered')
  expect(await run.outcome('denied')).toBe('filtered: consent denied')
  expect(await run.outcome('silent')).toBe('delivered')
  expect(await run.outcome('held')).toBe('filtered: consent missing')
  expect(await run.outcome('held-granted')).toBe('delivered')
})

test('the reasons last over a restart', async () => {
  const { run, rules } = await connected()
  await using _ = run
  rules('s1', { otherwise: 'allow', list: [...Array(19).fill(ONLY_LARGE.list[0]), NO_DEBUG.list[1]!] })
  await run.change('d1', { consent: { categories: ['Advertising'], require: 'all' } })
  await run.configure()
  await run.send(track('debug', '', { event: 'Debug Seat' }), track('denied', '', { context: DENIED }))
  await run.restart()
  expect(await run.outcome('debug')).toBe('filtered: connection rule 20')
  expect(await run.outcome('denied')).toBe('filtered: consent denied')
})

test('a replay of the log, and a dead letter that is sent again, pass the rules of today', async () => {
  const { run, sink, rules } = await connected()
  await using _ = run
  sink.answer = ({ event }) => (event.messageId === 'dead' ? 400 : 200)
  await run.send(track('sent', '', { event: 'Debug' }), track('dead', '', { event: 'Debug' }))
  expect(await run.outcome('dead')).toMatch(/^dead_lettered/)
  rules('s1', NO_DEBUG)
  await run.configure()
  const routes = new RoutesUnderTest(run)
  const range = { from: new Date(START).toISOString(), to: new Date(START + HOUR).toISOString() }
  await routes.replayLog({ sourceIds: ['s1'], destinationIds: ['d1'], ...range, filter: { messageIds: ['sent'] } })
  await routes.job('/v2/dead-letters/replay', { filter: { state: 'open' } })
  expect(await run.outcome('dead')).toBe('filtered: connection rule 2')
  expect(await run.delivery.trace('sent')).toMatchObject([
    { destinations: [{ outcome: 'delivered' }, { outcome: 'filtered', reason: 'connection rule 2' }] },
  ])
  expect(sink.arrivals).toHaveLength(2)
})

test('where neither rules nor consent matter there is nothing to ask', () => {
  const connections = [{ sourceId: 's1' }]
  expect(Screening.of({ destination: {}, connections, sources: new Map() })).toBe(undefined)
})

test('a count says what each rule would have decided, by source and time', async () => {
  const { run } = await connected()
  await using _ = run
  await run.send(track('too-old', '', { event: 'Debug' }))
  await run.advance(HOUR)
  const from = START + HOUR
  await run.send(track('seat'), track('debug', '', { event: 'Debug' }), { type: 'page', name: 'Debug', messageId: 'p' })
  await run.accept([track('other', '', { event: 'Debug' })], { source: 's2' })
  await run.settle()
  await run.advance(HOUR)
  await run.send(track('too-new', '', { event: 'Debug' }))
  const counted = await run.delivery.events.count({ sourceId: 's1', rules: NO_DEBUG, from, to: from + HOUR })
  expect(counted).toEqual({ decided: [1, 1, 1], isComplete: true, countedFrom: from })
  const ever = await run.delivery.events.count({ sourceId: 's1', rules: NO_DEBUG, from: 0, to: from + 2 * HOUR })
  expect(ever).toMatchObject({ decided: [1, 1, 2 + 1], isComplete: true })
})

/** Takes time for each read back. */
class SlowLog extends MemoryEventLog {
  beforeRead = () => Promise.resolve()

  override async readBack(...asked: Parameters<MemoryEventLog['readBack']>) {
    await this.beforeRead()
    return super.readBack(...asked)
  }
}

test('a count that takes too long ends, and says from when on it has counted', async () => {
  const log = new SlowLog()
  await using run = await PipelineUnderTest.start({ log })
  const padding = 'x'.repeat(1_000)
  for (let minute = 0; minute < 10; minute++) {
    await run.send(...Array.from({ length: 40 }, (_, i) => track(`m-${minute}-${i}`, '', { padding })))
    await run.advance(MINUTE)
  }
  log.beforeRead = () => run.clock.advance(2 * SECOND)
  const to = START + 10 * MINUTE
  const { decided, isComplete, countedFrom } = await run.delivery.events.count({
    ...{ sourceId: 's1', rules: NO_DEBUG },
    ...{ from: START, to },
  })
  expect(isComplete).toBe(false)
  expect(countedFrom).toBeGreaterThan(START)
  expect(decided[0]).toBe(((to - countedFrom) / MINUTE) * 40)
})
