import { DestinationRegistry } from '@millrace/destinations'
import type { JsonValue, StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { PipelineUnderTest } from '../testing/pipeline-under-test.ts'
import { Sink } from '../testing/sink.ts'
import { track } from '../testing/test-events.ts'
import { filterReason } from './filters.ts'

const registry = await DestinationRegistry.load()
const webhook = registry.find('WEBHOOK')!
const ID = '3uLMicKvWtFGwbwBkUIwtP0l8lu'

function reasonFor(event: object, config = {}, sourceClass = 'cloud') {
  const stored = { type: 'track', event: 'Seat Reserved', messageId: 'm', ...event } as unknown as StoredEvent
  return filterReason(stored, { id: ID, name: 'Box office', config, module: webhook }, sourceClass)
}

/** contracts/delivery.md §5: `integrations` → whether the event goes to the destination. */
const INTEGRATIONS: [string, JsonValue | undefined, boolean][] = [
  ['absent', undefined, true],
  ['empty', {}, true],
  ['no object', 'All', true],
  ['a list', [false], true],
  ['null', null, true],
  ['its id true', { All: false, [ID]: true }, true],
  ['its id false', { [ID]: false }, false],
  ['its own name true', { All: false, 'Box office': true }, true],
  ['its own name false', { 'Box office': false }, false],
  ['its display name true', { All: false, Webhook: true }, true],
  ['its display name false', { Webhook: false }, false],
  ['an object sends', { All: false, Webhook: { some: 'option' } }, true],
  ['the id comes before the name', { [ID]: true, 'Box office': false, Webhook: false }, true],
  ['the name comes before the display name', { 'Box office': false, Webhook: true }, false],
  ['another letter case is another name', { webhook: false, 'box office': false }, true],
  ['surrounding blanks make another name', { ' Webhook': false }, true],
  ['a text false', { Webhook: 'false' }, false],
  ['a text true', { All: false, Webhook: 'true' }, true],
  ['0', { Webhook: 0 }, false],
  ['1', { All: false, Webhook: 1 }, true],
  ['a text 0', { Webhook: '0' }, false],
  ['null', { Webhook: null }, false],
  ['what means nothing clear is a no: a text', { Webhook: 'yes' }, false],
  ['what means nothing clear is a no: a number', { Webhook: 2 }, false],
  ['what means nothing clear is a no: a list', { Webhook: [true] }, false],
  ['an id with another value decides as well', { [ID]: 'no', 'Box office': true }, false],
  ['All true', { All: true }, true],
  ['All false', { All: false }, false],
  ['All a text true', { All: 'true' }, true],
  ['All a text false', { All: 'false' }, false],
  ['All 0', { All: 0 }, false],
  ['All null', { All: null }, false],
  ['All an object', { All: {} }, true],
  ['others named', { 'Google Analytics': false, Other: true }, true],
  ['an inherited name is no key', { toString: false }, true],
]

test.each(INTEGRATIONS)('integrations: %s', (_name, integrations, isSent) => {
  const event = integrations === undefined ? {} : { integrations }
  expect(reasonFor(event)).toBe(isSent ? undefined : 'integrations')
})

test.each([
  ['disable', {}, undefined],
  ['an unknown option', {}, undefined],
  ['whitelistedEvents', { whitelistedEvents: [{ eventName: 'Seat Reserved' }] }, undefined],
  ['whitelistedEvents', { whitelistedEvents: [{ eventName: ' Seat Reserved ' }] }, undefined],
  ['whitelistedEvents', { whitelistedEvents: [{ eventName: 'seat reserved' }] }, 'event filter'],
  ['whitelistedEvents', { whitelistedEvents: [] }, 'event filter'],
  ['whitelistedEvents', {}, 'event filter'],
  ['allowlist', { allowlist: [{ eventName: 'Seat Reserved' }] }, undefined],
  ['blacklistedEvents', { blacklistedEvents: [{ eventName: 'Seat Reserved' }] }, 'event filter'],
  ['blacklistedEvents', { blacklistedEvents: [{ eventName: 'Seat' }] }, undefined],
  ['blacklistedEvents', { blacklistedEvents: [] }, undefined],
  ['denylist', { denylist: [{ eventName: 'Seat Reserved' }] }, 'event filter'],
])('eventFilteringOption %s with %j', (eventFilteringOption, lists, reason) => {
  const config = { eventFilteringOption, ...lists }
  expect(reasonFor({}, config)).toBe(reason)
  expect(reasonFor({ event: '  Seat Reserved ' }, config)).toBe(reason)
  expect(reasonFor({ type: 'page', name: 'Other' }, config)).toBe(undefined)
})

test('a type that the configuration does not want is filtered, not failed', async () => {
  const sink = await Sink.start()
  const config = { url: sink.url, messageTypes: ['track'] }
  await using run = await PipelineUnderTest.start({ destinations: { d1: { type: 'HTTP', config } } })
  run.own(sink)
  await run.send(track('wanted'), { type: 'page', name: 'Home', messageId: 'page' })
  expect(await run.outcome('wanted')).toBe('delivered')
  expect(await run.outcome('page')).toBe('filtered: message type not supported')
})

test('an event that the configuration does not list is filtered, not called delivered', async () => {
  const sink = await Sink.start()
  const config = { webhookUrl: sink.url, eventTemplates: [{ eventName: 'Seat Reserved', text: '{{event}}' }] }
  await using run = await PipelineUnderTest.start({ destinations: { d1: { type: 'SLACK', config } } })
  run.own(sink)
  await run.send(track('listed'), track('other', '', { event: 'Seat Released' }))
  await run.send({ type: 'identify', messageId: 'person', userId: 'u' })
  expect(await run.outcome('listed')).toBe('delivered')
  expect(await run.outcome('other')).toBe('filtered: event filter')
  expect(await run.outcome('person')).toBe('filtered: message type not supported')
  expect(sink.arrivals).toHaveLength(1)
})

test('the first reason that holds is given', () => {
  const config = { connectionMode: { cordova: 'device' }, eventFilteringOption: 'whitelistedEvents' }
  const event = { integrations: { All: false } }
  expect(reasonFor({ ...event, type: 'merge' }, config, 'cordova')).toBe('integrations')
  expect(reasonFor({ type: 'merge' }, config, 'cordova')).toBe('device mode')
  expect(reasonFor({ type: 'merge' }, config, 'web')).toBe('message type not supported')
  expect(reasonFor({}, config, 'web')).toBe('event filter')
})

test('All false with one name true delivers to that destination only, and the others show why', async () => {
  const sinks = { d1: await Sink.start(), d2: await Sink.start(), d3: await Sink.start() }
  await using run = await PipelineUnderTest.start({
    destinations: {
      d1: { name: 'Box office', config: { webhookUrl: sinks.d1.url } },
      d2: { name: 'Newsletter', config: { webhookUrl: sinks.d2.url } },
      d3: {
        config: {
          webhookUrl: sinks.d3.url,
          eventFilteringOption: 'whitelistedEvents',
          whitelistedEvents: [{ eventName: 'Order Completed' }],
        },
      },
    },
  })
  for (const sink of Object.values(sinks)) run.own(sink)
  await run.send(track('named', '', { integrations: { All: false, Newsletter: true } }))
  expect(await run.outcome('named', 'd1')).toBe('filtered: integrations')
  expect(await run.outcome('named', 'd2')).toBe('delivered')
  expect(await run.outcome('named', 'd3')).toBe('filtered: integrations')

  await run.send(track('listed'), { type: 'page', name: 'Home', messageId: 'page' })
  expect(await run.outcome('listed', 'd3')).toBe('filtered: event filter')
  expect(await run.outcome('page', 'd3')).toBe('delivered')
  expect(sinks.d2.messageIds).toEqual(['named', 'listed', 'page'])
  expect(run.delivery.metrics.outcomes.get('d3')).toEqual(
    new Map([
      ['filtered', 2],
      ['delivered', 1],
    ]),
  )
})
