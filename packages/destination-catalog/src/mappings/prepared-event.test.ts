import { expect, test } from 'vitest'
import { preparedEvent } from './prepared-event.ts'

/** contracts/destination-catalog.md §8.1, row by row. */
test.each<[string, object, object]>([
  ['traits of the context', { type: 'identify', context: { traits: { a: 1 } } }, { traits: { a: 1 } }],
  ['its own traits', { type: 'identify', traits: { b: 2 }, context: { traits: { a: 1 } } }, { traits: { b: 2 } }],
  ['the name of a screen from its event', { type: 'screen', event: 'Seats' }, { name: 'Seats' }],
  ['the name of a page from its properties', { type: 'page', properties: { name: 'Seats' } }, { name: 'Seats' }],
  [
    'the address of the request',
    { type: 'track', request_ip: '203.0.113.7', context: {} },
    { context: { ip: '203.0.113.7' } },
  ],
  ['its own address', { type: 'track', request_ip: '203.0.113.7', context: { ip: '::1' } }, { context: { ip: '::1' } }],
])('%s', (_name, event, expected) => {
  const before = structuredClone(event)
  expect(preparedEvent(event as never)).toMatchObject(expected)
  expect(event).toEqual(before)
})

test('nothing else is made up', () => {
  expect(preparedEvent({ type: 'track', event: 'x' })).toEqual({ type: 'track', event: 'x' })
})
