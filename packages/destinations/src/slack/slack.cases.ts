import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../destination-case.ts'
import { requestObject } from '../request-object.ts'

const webhookUrl = 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly'
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z', request_ip: '203.0.113.9' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B', row: 7 }, ...stored }
const identify = { type: 'identify', userId: 'u-4711', traits: { email: 'ada@mail.example' }, ...stored }

function posted(text: string) {
  const headers = { 'content-type': 'application/json' }
  return { requests: [requestObject({ method: 'POST', endpoint: webhookUrl, headers, body: { JSON: { text } } })] }
}

const nothing = { requests: [] }

const shownExamples: DestinationCase[] = [
  {
    name: 'An event is posted with its name and user',
    documented: true,
    config: { webhookUrl: 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly' },
    event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B' } },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly',
          headers: { 'content-type': 'application/json' },
          params: {},
          body: { JSON: { text: 'Seat Reserved by u-4711' }, JSON_ARRAY: {}, XML: {}, FORM: {} },
          files: {},
        },
      ],
    },
  },
  {
    name: 'A text of your own',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly',
      eventTemplates: [
        {
          eventName: 'Seat Reserved',
          text: '<!here> {{traits.name}} reserved row {{properties.row}}{{properties.note}}',
        },
      ],
    },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      properties: { row: 7 },
      context: { traits: { name: '<!channel> Ada & Co' } },
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly',
          headers: { 'content-type': 'application/json' },
          params: {},
          body: {
            JSON: { text: '<!here> &lt;!channel&gt; Ada &amp; Co reserved row 7' },
            JSON_ARRAY: {},
            XML: {},
            FORM: {},
          },
          files: {},
        },
      ],
    },
  },
]

function others(): DestinationCase[] {
  const templates = [
    { eventName: 'Seat Reserved', text: 'hall {{properties.hall}}' },
    { eventName: 'Seat Reserved', text: 'second' },
    { eventName: 'Order Completed', text: '' },
  ]
  const invalid = { error: 'Invalid URL in destination config' }
  const noText = { error: 'the message has no text' }
  const table: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
    ['a user without a userId', {}, { ...track, userId: '', anonymousId: 'a-9' }, posted('Seat Reserved by a-9')],
    ['nobody', {}, { ...track, userId: null }, posted('Seat Reserved')],
    ['an event name is data', {}, { ...track, event: '<{{userId}}>' }, posted('&lt;{{userId}}&gt; by u-4711')],
    ['an event without a name', {}, { ...track, event: null }, { error: 'event is missing' }],
    ['an empty list is no list', { eventTemplates: [] }, track, posted('Seat Reserved by u-4711')],
    ['the first of equal names', { eventTemplates: templates }, track, posted('hall B')],
    [
      'an empty text',
      { eventTemplates: templates },
      { ...track, event: 'Order Completed' },
      posted('Order Completed by u-4711'),
    ],
    ['an event that is not listed', { eventTemplates: templates }, { ...track, event: 'seat reserved' }, nothing],
    [
      'a template may stay empty',
      { eventTemplates: [{ eventName: 'Seat Reserved', text: '{{none}} ' }] },
      track,
      noText,
    ],
    ['an identify without a template', {}, identify, { error: 'message type identify not supported' }],
    [
      'an identify with one',
      { identifyTemplate: '{{traits.email}} is here' },
      identify,
      posted('ada@mail.example is here'),
    ],
    [
      'traits of the context',
      { identifyTemplate: '{{traits.email}}' },
      { type: 'identify', context: { traits: { email: 'eve@mail.example' } } },
      posted('eve@mail.example'),
    ],
    ['no address', { webhookUrl: '' }, track, invalid],
    ['an address that is no text', { webhookUrl: 7 }, track, invalid],
  ]
  return table.map(([name, config, event, expected]) => ({ name, config: { webhookUrl, ...config }, event, expected }))
}

export const cases: DestinationCase[] = [...shownExamples, ...others()]
