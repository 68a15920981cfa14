import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const webhookUrl = 'https://discord.com/api/webhooks/115200000000000001/x7Hq2exampleOnly'
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { row: 7 }, ...stored }
const silent = { allowed_mentions: { parse: [] } }

function posted(message: JsonObject, thread?: string) {
  const params = { wait: 'true', ...(thread === undefined ? {} : { thread_id: thread }) }
  const headers = { 'content-type': 'application/json' }
  return {
    requests: [requestObject({ method: 'POST', endpoint: webhookUrl, headers, params, body: { JSON: message } })],
  }
}

const shown: DestinationCase[] = [
  {
    name: 'An event is posted with its name and user',
    config: { webhookUrl },
    event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
    expected: posted({ content: 'Seat Reserved by u-4711', ...silent }),
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
      context: { traits: { name: '*Ada* @everyone [win](https://evil.example)' } },
    },
    expected: posted({
      content: '**\\*Ada\\* @\u200beveryone [win]\u200b(https://evil.example)** reserved row 7',
      ...silent,
    }),
  },
  {
    name: 'Mentions in your own text',
    config: {
      webhookUrl,
      allowMentions: true,
      eventTemplates: [{ eventName: 'Projector Failed', text: '@here {{event}} in hall {{hall}}' }],
    },
    event: { type: 'track', event: 'Projector Failed', properties: { hall: 'B' } },
    expected: posted({ content: '@here Projector Failed in hall B' }),
  },
  {
    name: 'Embeds, a thread and a sender',
    config: {
      webhookUrl,
      threadId: '115200000000000002',
      username: 'Cinema',
      avatarUrl: 'https://cinema.example/logo.png',
      eventTemplates: [
        {
          eventName: 'Order Completed',
          text: '',
          threadId: '115200000000000003',
          embeds: [
            {
              title: 'Order {{order_id}}',
              url: 'https://cinema.example/orders/{{order_id}}',
              color: 5814783,
              fields: [{ name: 'Total', value: '{{total}} {{currency}}', inline: true }],
            },
          ],
        },
        { eventName: '*', text: '' },
      ],
    },
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      properties: { order_id: 'o_12', total: 39.9, currency: 'EUR' },
    },
    expected: posted(
      {
        embeds: [
          {
            title: 'Order o\\_12',
            url: 'https://cinema.example/orders/o_12',
            color: 5814783,
            fields: [{ name: 'Total', value: '39.9 EUR', inline: true }],
          },
        ],
        username: 'Cinema',
        avatar_url: 'https://cinema.example/logo.png',
        ...silent,
      },
      '115200000000000003',
    ),
  },
  {
    name: 'An identify with the default text',
    config: { webhookUrl, postIdentify: true },
    event: { type: 'identify', userId: 'u-4711', traits: { email: 'ada@mail.example' } },
    expected: posted({ content: 'Identified ada@mail.example', ...silent }),
  },
  {
    name: 'An identify with an embed',
    config: {
      webhookUrl,
      identifyTemplate: '{{name}} is on plan {{traits.plan}}',
      identifyEmbeds: [{ description: 'Since {{traits.since}}' }],
    },
    event: { type: 'identify', userId: 'u-4711', traits: { name: 'Ada', plan: 'gold', since: '2026-03' } },
    expected: posted({ content: 'Ada is on plan gold', embeds: [{ description: 'Since 2026-03' }], ...silent }),
  },
]

const templates = [
  { eventName: 'Seat Reserved', text: 'row {{row}}' },
  { eventName: 'Order *', text: '', embeds: [{ title: '{{event}}' }] },
]

const others: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
  [
    'an event that is not listed',
    { eventTemplates: templates },
    { ...track, event: 'seat reserved' },
    { requests: [] },
  ],
  [
    'an empty list is no list',
    { eventTemplates: [] },
    track,
    posted({ content: 'Seat Reserved by u-4711', ...silent }),
  ],
  ['a thread for all', { threadId: '12' }, track, posted({ content: 'Seat Reserved by u-4711', ...silent }, '12')],
  [
    'embeds without a text',
    { eventTemplates: templates },
    { ...track, event: 'Order Paid' },
    posted({ embeds: [{ title: 'Order Paid' }], ...silent }),
  ],
  [
    'a text that is too long',
    {},
    { ...track, event: 'x'.repeat(3_000) },
    posted({ content: `${'x'.repeat(1_999)}…`, ...silent }),
  ],
  [
    'an address in a value',
    { eventTemplates: [{ eventName: '*', text: '{{link}}' }] },
    { ...track, properties: { link: 'https://cinema.example/a_b_c?@everyone' } },
    posted({ content: 'https://cinema.example/a_b_c?@\u200beveryone', ...silent }),
  ],
  [
    'mentions in values',
    { allowMentions: true },
    { ...track, event: '@here <@12> <@&13> <#14> @everyone', userId: 'ada@mail.example' },
    posted({ content: '@\u200bhere <\u200b@12> <\u200b@&13> <\u200b#14> @\u200beveryone by ada@mail.example' }),
  ],
  ['an event without a name', {}, { ...track, event: null }, { error: 'event is missing' }],
  [
    'a text that stays empty',
    { eventTemplates: [{ eventName: '*', text: ' {{none}}' }] },
    track,
    { error: 'the message has no text' },
  ],
  ['an identify that is not wanted', {}, { type: 'identify' }, { error: 'message type identify not supported' }],
  ['no address', { webhookUrl: '' }, track, { error: 'Invalid URL in destination config' }],
]

export const cases: DestinationCase[] = [
  ...shown.map((each) => ({ ...each, documented: true as const })),
  ...others.map(([name, config, event, expected]) => ({ name, config: { webhookUrl, ...config }, event, expected })),
]
