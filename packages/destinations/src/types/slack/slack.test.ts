import type { StoredEvent } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import { Masking } from '../../config/masking.ts'
import { maskConfig, secretValues } from '../../config/secrets.ts'
import { unmaskConfig } from '../../config/unmasked-config.ts'
import { DestinationRegistry } from '../../registry.ts'
import { runTransform } from '../../run-transform.ts'
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
    const metadata = { sourceId: 's-1', destinationId: 'd-1', destinationName: 'Seats', messageId: 'm-88' }
    const result = runTransform(destination, event, { webhookUrl }, metadata) as unknown as { derivedSecrets: string[] }
    const masking = new Masking([...secretValues(definition, { webhookUrl }), ...result.derivedSecrets])
    expect(masking.text(`no such hook: ${webhookUrl}`)).toBe('no such hook: ********')
    expect(masking.text('no /services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly here')).toBe('no ******** here')
  })
})

test('the bot token is a secret, with and without its scheme', () => {
  const config = { botToken: 'xoxb-x7Hq2exampleOnly', channel: 'C1' }
  expect(maskConfig(definition, config)).toEqual({ botToken: '********', channel: 'C1' })
  const event = { type: 'track', event: 'Seat Reserved' } as unknown as StoredEvent
  const metadata = { sourceId: 's-1', destinationId: 'd-1', destinationName: 'Seats', messageId: 'm-88' }
  const result = runTransform(destination, event, config, metadata) as unknown as { derivedSecrets: string[] }
  expect(result.derivedSecrets).toEqual([config.botToken, `Bearer ${config.botToken}`])
})

test.each<[status: number, body: unknown, judged: string | number | undefined]>([
  [200, 'ok', undefined],
  [200, { ok: true }, undefined],
  [200, { ok: false, error: 'invalid_blocks' }, 'abort'],
  [200, { ok: false, error: 'ratelimited' }, 429],
  [200, { ok: false, error: 'internal_error' }, 503],
  [200, { ok: false, error: 'invalid_auth' }, 401],
  [200, { ok: false, error: 'service_unavailable' }, 503],
  [200, { ok: false, error: 'fatal_error' }, 503],
  [200, { ok: false, error: 'request_timeout' }, 503],
  [200, { ok: false, error: 'team_added_to_org' }, 503],
  [200, { ok: false, error: 'token_expired' }, 401],
  [200, { ok: false, error: 'token_revoked' }, 401],
  [200, { ok: false, error: 'not_authed' }, 401],
  [200, { ok: false, error: 'missing_scope' }, 403],
  [200, { ok: false, error: 'org_login_required' }, 403],
  [200, { ok: false, error: 'channel_not_found' }, 'abort'],
  [200, null, undefined],
  [404, 'no_service', undefined],
  [500, { ok: false }, undefined],
])('an answer %i %j is %s', (status, body, judged) => {
  expect(destination.classify!({ status, headers: {}, body })).toBe(judged)
})

const noHelper =
  'must be without {{#if}}, {{else}} and other helpers: only placeholders such as {{properties.row}} are filled'
const ownChannel = 'must be left out with webhookUrl, because a webhook posts to its own channel: use botToken instead'

test.each([
  ['', 'must have exactly one of webhookUrl, botToken', {}],
  ['', 'must have exactly one of webhookUrl, botToken', { webhookUrl, botToken: 'xoxb-1', channel: 'C1' }],
  ['/channel', 'is required', { botToken: 'xoxb-1' }],
  ['/channel', 'must not be empty', { botToken: 'xoxb-1', channel: '' }],
  ['/channel', ownChannel, { webhookUrl, channel: 'C1' }],
  [
    '/eventTemplates/0/channel',
    ownChannel,
    { webhookUrl, eventTemplates: [{ eventName: 'a', text: 'b', channel: 'C1' }] },
  ],
  [
    '/webhookUrl',
    'must be the http or https address of an incoming webhook',
    { webhookUrl: 'hooks.slack.com/services' },
  ],
  ['/eventTemplates', 'must be of type array', { webhookUrl, eventTemplates: { a: 'b' } }],
  ['/eventTemplates/0/text', 'is required', { webhookUrl, eventTemplates: [{ eventName: 'a' }] }],
  ['/identifyTemplate', 'must be of type string', { webhookUrl, identifyTemplate: 7 }],
  ['/identifyTemplate', noHelper, { webhookUrl, identifyTemplate: 'Hello {{#if traits.name}}you{{/if}}' }],
  ['/identifyTemplate', noHelper, { webhookUrl, identifyTemplate: 'Hello\n{{ else }}' }],
  ['/identifyTemplate', noHelper, { webhookUrl, identifyTemplate: '{{{name}}}' }],
  [
    '/eventTemplates/1/text',
    noHelper,
    {
      webhookUrl,
      eventTemplates: [
        { eventName: 'a', text: '{{row}} {{elsewhere}}' },
        { eventName: 'b', text: '{{#each seats}}' },
      ],
    },
  ],
  [
    '/eventTemplates/0/blocks/1/text/text',
    noHelper,
    {
      webhookUrl,
      eventTemplates: [
        {
          eventName: 'a',
          text: '',
          blocks: [{ type: 'divider' }, { type: 'section', text: { type: 'mrkdwn', text: '{{#if row}}' } }],
        },
      ],
    },
  ],
  [
    '/identifyBlocks/0/elements/0/text',
    noHelper,
    { webhookUrl, identifyBlocks: [{ type: 'context', elements: [{ type: 'mrkdwn', text: '{{> row}}' }] }] },
  ],
  ['/identifyBlocks/0/type', 'is required', { webhookUrl, identifyBlocks: [{}] }],
])('a config is refused at %s: %s', (path, message, config) => {
  expect(new DestinationRegistry([destination]).faultsIn(destination, config)).toEqual([{ path, message }])
})
