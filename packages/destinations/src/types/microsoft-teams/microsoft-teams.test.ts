import type { StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { Masking } from '../../config/masking.ts'
import { secretValues } from '../../config/secrets.ts'
import { DestinationRegistry } from '../../registry.ts'
import { runTransform } from '../../run-transform.ts'
import { destination } from './microsoft-teams.ts'

// What microsoft-teams.cases.ts cannot say; every-type.test.ts runs the cases.

const path = '/workflows/x7Hq2/triggers/manual/paths/invoke'
const webhookUrl = `https://prod-12.westeurope.logic.azure.com${path}?api-version=2016-06-01&sig=x7Hq2exampleOnly`

test('the address is a secret: whole, by its path and by its signature', () => {
  const event = { type: 'track', event: 'Seat Reserved' } as unknown as StoredEvent
  const metadata = { sourceId: 's-1', destinationId: 'd-1', destinationName: 'D', messageId: 'm-88' }
  const result = runTransform(destination, event, { webhookUrl }, metadata)
  if ('error' in result) throw new Error(result.error)
  const masking = new Masking([...secretValues(destination.definition, { webhookUrl }), ...result.derivedSecrets])
  expect(masking.text(`no such workflow: ${webhookUrl}`)).toBe('no such workflow: ********')
  expect(masking.text(`no ${path} with x7Hq2exampleOnly`)).toBe('no ******** with ********')
})

test.each([
  ['/webhookUrl', 'is required', {}],
  ['/eventTemplates/0/elements/0/type', 'is required', { eventTemplates: [{ ...entry(), elements: [{}] }] }],
  [
    '/eventTemplates/0/elements/0/text',
    'must be without {{#if}}, {{else}} and other helpers: only placeholders such as {{properties.row}} are filled',
    { eventTemplates: [{ ...entry(), elements: [{ type: 'TextBlock', text: '{{#if a}}' }] }] },
  ],
])('a configuration that is wrong at %s is refused on save', async (at, message, config) => {
  const registry = await DestinationRegistry.load()
  const whole = at === '/webhookUrl' ? config : { webhookUrl, ...config }
  expect(registry.faultsIn(destination, whole)).toEqual([{ path: at, message }])
})

function entry() {
  return { eventName: '*', text: '' }
}
