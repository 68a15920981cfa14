import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const webhookUrl =
  'https://prod-12.westeurope.logic.azure.com/workflows/x7Hq2/triggers/manual/paths/invoke?api-version=2016-06-01&sig=x7Hq2exampleOnly'
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { row: 7 }, ...stored }

function posted(...body: JsonObject[]) {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    body,
  }
  const json = {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
  const headers = { 'content-type': 'application/json' }
  return { requests: [requestObject({ method: 'POST', endpoint: webhookUrl, headers, body: { JSON: json } })] }
}

function text(words: string) {
  return { type: 'TextBlock', text: words, wrap: true }
}

const shown: DestinationCase[] = [
  {
    name: 'An event is posted with its name and user',
    config: { webhookUrl },
    event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
    expected: posted(text('Seat Reserved by u-4711')),
  },
  {
    name: 'A text of your own',
    config: {
      webhookUrl,
      eventTemplates: [{ eventName: 'Seat *', text: '**{{name}}** reserved row {{row}}{{properties.note}}' }],
    },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      properties: { row: 7 },
      context: { traits: { name: 'Ada [win](https://evil.example)' } },
    },
    expected: posted(text('**Ada [win]\u200b(https://evil.example)** reserved row 7')),
  },
  {
    name: 'Card elements of an event',
    config: {
      webhookUrl,
      eventTemplates: [
        {
          eventName: 'Order Completed',
          text: '',
          elements: [
            { type: 'TextBlock', text: 'Order {{order_id}}', weight: 'bolder' },
            { type: 'FactSet', facts: [{ title: 'Total', value: '{{total}} {{currency}}' }] },
            {
              type: 'ActionSet',
              actions: [{ type: 'Action.OpenUrl', title: 'Open', url: 'https://cinema.example/orders/{{order_id}}' }],
            },
          ],
        },
        { eventName: '*', text: '{{event}}' },
      ],
    },
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      properties: { order_id: 'o-12', total: 39.9, currency: 'EUR' },
    },
    expected: posted(
      { type: 'TextBlock', text: 'Order o-12', weight: 'bolder' },
      { type: 'FactSet', facts: [{ title: 'Total', value: '39.9 EUR' }] },
      {
        type: 'ActionSet',
        actions: [{ type: 'Action.OpenUrl', title: 'Open', url: 'https://cinema.example/orders/o-12' }],
      },
    ),
  },
  {
    name: 'An identify with the default text',
    config: { webhookUrl, postIdentify: true },
    event: { type: 'identify', userId: 'u-4711', traits: { email: 'ada@mail.example' } },
    expected: posted(text('Identified ada@mail.example')),
  },
  {
    name: 'An identify with a card element',
    config: {
      webhookUrl,
      identifyTemplate: '{{name}} is on plan {{traits.plan}}',
      identifyElements: [{ type: 'Image', url: '{{traits.avatar}}', altText: '{{name}}' }],
    },
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: { name: 'Ada', plan: 'gold', avatar: 'https://cinema.example/ada.png' },
    },
    expected: posted(text('Ada is on plan gold'), {
      type: 'Image',
      url: 'https://cinema.example/ada.png',
      altText: 'Ada',
    }),
  },
]

const others: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
  ['an event that is not listed', { eventTemplates: [{ eventName: 'Order *', text: '' }] }, track, { requests: [] }],
  [
    'a value that starts with a bracket',
    { eventTemplates: [{ eventName: '*', text: '[row]{{place}}' }] },
    { ...track, properties: { place: '(https://evil.example)' } },
    posted(text('[row]\u200b(https://evil.example)')),
  ],
  ['an event without a name', {}, { ...track, event: '' }, { error: 'event is missing' }],
  [
    'a message that is too large',
    {},
    { ...track, event: 'x'.repeat(30_000) },
    { error: 'the message has 30285 bytes; Teams takes 28000' },
  ],
  ['an identify that is not wanted', {}, { type: 'identify' }, { error: 'message type identify not supported' }],
  ['no address', { webhookUrl: '' }, track, { error: 'Invalid URL in destination config' }],
]

export const cases: DestinationCase[] = [
  ...shown.map((each) => ({ ...each, documented: true as const })),
  ...others.map(([name, config, event, expected]) => ({ name, config: { webhookUrl, ...config }, event, expected })),
]
