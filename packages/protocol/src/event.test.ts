import { expect, test } from 'vitest'
import { eventName } from './event.ts'
import type { JsonObject } from './json.ts'

test.each<[JsonObject, string]>([
  [{ type: 'track', event: 'Seat Reserved', name: 'x' }, 'Seat Reserved'],
  [{ type: 'page', name: 'Home', event: 'x', properties: { name: 'y' } }, 'Home'],
  [{ type: 'page', event: 'x', properties: { name: 'y' } }, ''],
  [{ type: 'screen', name: 'Home', event: 'x', properties: { name: 'y' } }, 'Home'],
  // As the native client libraries for Android and iOS send them.
  [{ type: 'screen', event: 'Home', properties: { name: 'Home' } }, 'Home'],
  [{ type: 'screen', name: '', event: 7, properties: { name: 'Home' } }, 'Home'],
  [{ type: 'screen', properties: { name: 7 } }, ''],
  [{ type: 'screen', event: null, properties: null }, ''],
  ...['identify', 'group', 'alias', 'merge'].map((type): [JsonObject, string] => [
    { type, name: 'x', event: 'x', properties: { name: 'x' } },
    '',
  ]),
])('the name of %o is "%s"', (event, name) => {
  expect(eventName(event)).toBe(name)
})
