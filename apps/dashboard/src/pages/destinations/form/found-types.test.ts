import type { DestinationDefinition } from '@millrace/api-types'
import { expect, test } from 'vitest'
import { foundTypes, titleOf } from './found-types.ts'

function type(name: string, displayName: string, options: object = {}): DestinationDefinition {
  return { name, displayName, category: 'catalog', options } as DestinationDefinition
}

const TYPES = [
  type('WEBHOOK', 'Webhook'),
  type('CATALOG_WEBHOOK', 'Webhook (community)', { catalog: true, supersededBy: 'WEBHOOK' }),
  type('CATALOG_MS_BING_CAPI', 'Microsoft Advertising', { catalog: true, aliases: ['Microsoft Bing CAPI'] }),
]

test.each([
  ['', ['WEBHOOK', 'CATALOG_MS_BING_CAPI']],
  [' webHOOK ', ['WEBHOOK', 'CATALOG_WEBHOOK']],
  ['bing', ['CATALOG_MS_BING_CAPI']],
  ['nothing', []],
])('the search for "%s" finds by every name; a replaced entry is found only when it is sought', (sought, names) => {
  expect(foundTypes(TYPES, sought).map(({ name }) => name)).toEqual(names)
})

test('the category of the catalog has a title of its own', () => {
  expect([titleOf('catalog'), titleOf('webhooks')]).toEqual(['Community catalog', 'Webhooks'])
})
