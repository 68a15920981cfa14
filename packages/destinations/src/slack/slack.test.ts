import type { StoredEvent } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import { Masking } from '../masking.ts'
import { DestinationRegistry } from '../registry.ts'
import { runTransform } from '../run-transform.ts'
import { maskConfig, secretValues, unmaskConfig } from '../secrets.ts'
import { destination } from './slack.ts'

// What slack.cases.ts cannot say; every-type.test.ts runs the cases.

const { definition } = destination
const webhookUrl = 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly'

describe('the address is a secret', () => {
  test('in the config, over a round trip', () => {
    const shown = maskConfig(definition, { webhookUrl })
    expect(shown).toEqual({ webhookUrl: '********' })
    expect(unmaskConfig(definition, shown, { webhookUrl }).config).toEqual({ webhookUrl })
  })

  test('in what is shown, whole and by its path alone', () => {
    const event = { type: 'track', event: 'Seat Reserved' } as unknown as StoredEvent
    const metadata = { sourceId: 's-1', destinationId: 'd-1', messageId: 'm-88' }
    const result = runTransform(destination, event, { webhookUrl }, metadata) as unknown as { derivedSecrets: string[] }
    const masking = new Masking([...secretValues(definition, { webhookUrl }), ...result.derivedSecrets])
    expect(masking.text(`no such hook: ${webhookUrl}`)).toBe('no such hook: ********')
    expect(masking.text('no /services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly here')).toBe('no ******** here')
  })
})

test.each<[status: number, body: unknown, answerClass: string | undefined]>([
  [200, 'ok', undefined],
  [200, { ok: true }, undefined],
  [200, { ok: false, error: 'invalid_blocks' }, 'abort'],
  [200, { ok: false, error: 'ratelimited' }, 'retry'],
  [200, null, undefined],
  [404, 'no_service', undefined],
  [500, { ok: false }, undefined],
])('an answer %i %j is %s', (status, body, answerClass) => {
  expect(destination.classify!({ status, headers: {}, body })).toBe(answerClass)
})

test.each([
  ['/webhookUrl', 'is required', {}],
  [
    '/webhookUrl',
    'must be the http or https address of an incoming webhook',
    { webhookUrl: 'hooks.slack.com/services' },
  ],
  ['/eventTemplates', 'must be of type array', { webhookUrl, eventTemplates: { a: 'b' } }],
  ['/eventTemplates/0/text', 'is required', { webhookUrl, eventTemplates: [{ eventName: 'a' }] }],
  ['/identifyTemplate', 'must be of type string', { webhookUrl, identifyTemplate: 7 }],
])('a config is refused at %s: %s', (path, message, config) => {
  expect(new DestinationRegistry([destination]).faultsIn(destination, config)).toEqual([{ path, message }])
})
