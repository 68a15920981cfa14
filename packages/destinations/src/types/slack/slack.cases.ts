import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const webhookUrl = 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly'
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z', request_ip: '203.0.113.9' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { hall: 'B', row: 7 }, ...stored }
const identify = { type: 'identify', userId: 'u-4711', traits: { email: 'ada@mail.example' }, ...stored }

function posted(text: string) {
  return sentByHook({ text })
}

function sentByHook(json: JsonObject) {
  const headers = { 'content-type': 'application/json' }
  return { requests: [requestObject({ method: 'POST', endpoint: webhookUrl, headers, body: { JSON: json } })] }
}

function sentAsBot(json: JsonObject) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer xoxb-x7Hq2exampleOnly' }
  const endpoint = 'https://slack.com/api/chat.postMessage'
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { JSON: json } })] }
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
  {
    name: 'Events by a pattern',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly',
      eventTemplates: [
        { eventName: 'Seat Released', text: '' },
        { eventName: 'Seat *', text: '{{event}}: row {{properties.row}}' },
      ],
    },
    event: { type: 'track', event: 'Seat Reserved', userId: 'u-4711', properties: { row: 7 } },
    expected: posted('Seat Reserved: row 7'),
  },
  {
    name: 'The name of the user, and properties without a path',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly',
      eventTemplates: [{ eventName: 'Seat Reserved', text: '{{name}} reserved row {{row}} ({{plan}})' }],
    },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      properties: { row: 7 },
      context: { traits: { firstName: 'Ada', lastName: 'King', plan: 'gold' } },
    },
    expected: posted('Ada King reserved row 7 (gold)'),
  },
  {
    name: 'A channel for an event',
    documented: true,
    config: {
      botToken: 'xoxb-x7Hq2exampleOnly',
      channel: 'C0GENERAL',
      eventTemplates: [
        { eventName: 'Order *', text: '{{name}}: {{event}}', channel: 'C0ORDERS' },
        { eventName: '*', text: '' },
      ],
    },
    event: { type: 'track', event: 'Order Completed', userId: 'u-4711' },
    expected: sentAsBot({ channel: 'C0ORDERS', text: 'User u-4711: Order Completed' }),
  },
  {
    name: 'An identify with the default text',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly',
      postIdentify: true,
    },
    event: { type: 'identify', userId: 'u-4711', traits: { email: 'ada@mail.example' } },
    expected: posted('Identified ada@mail.example'),
  },
  {
    name: 'Blocks of an event',
    documented: true,
    config: {
      webhookUrl: 'https://hooks.slack.com/services/T0EXAMPLE/B0EXAMPLE/x7Hq2exampleOnly',
      eventTemplates: [
        {
          eventName: 'Seat Reserved',
          text: 'Row {{row}} is reserved',
          blocks: [
            { type: 'section', text: { type: 'mrkdwn', text: '*{{name}}* reserved row {{row}}' } },
            { type: 'image', image_url: '{{photo}}', alt_text: 'Row {{row}}' },
          ],
        },
      ],
    },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      properties: { row: 7, photo: 'https://cinema.example/row?n=7&size=s' },
      context: { traits: { name: 'Ada & Co' } },
    },
    expected: sentByHook({
      text: 'Row 7 is reserved',
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text: '*Ada &amp; Co* reserved row 7' } },
        { type: 'image', image_url: 'https://cinema.example/row?n=7&size=s', alt_text: 'Row 7' },
      ],
    }),
  },
  {
    name: 'Blocks of an identify',
    documented: true,
    config: {
      botToken: 'xoxb-x7Hq2exampleOnly',
      channel: 'C0GENERAL',
      identifyTemplate: '{{name}} is on plan {{traits.plan}}',
      identifyBlocks: [{ type: 'header', text: { type: 'plain_text', text: '{{name}}' } }],
    },
    event: { type: 'identify', anonymousId: 'a-9', traits: { plan: 'gold' } },
    expected: sentAsBot({
      channel: 'C0GENERAL',
      text: 'Anonymous user a-9 is on plan gold',
      blocks: [{ type: 'header', text: { type: 'plain_text', text: 'Anonymous user a-9' } }],
    }),
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
    ...nameCases(),
    ...patternCases(),
    [
      'an identify that gives its template nothing',
      { identifyTemplate: '{{none}}' },
      identify,
      posted(`Identified ${ADA}`),
    ],
    ['an identify of nobody', { postIdentify: true }, { type: 'identify' }, posted('Identified a user')],
    ['an identify that is switched off', { postIdentify: false }, identify, notIdentified],
    ['a list of no blocks', { identifyBlocks: [] }, identify, notIdentified],
    [
      'the path before the flat name',
      { eventTemplates: [{ eventName: '*', text: '{{userId}} {{hall}} {{properties.hall}} {{type}}' }] },
      { ...track, properties: { hall: 'B', userId: 'other', type: 'other' } },
      posted('u-4711 B B track'),
    ],
    [
      'a property before a trait',
      { eventTemplates: [{ eventName: '*', text: '{{plan}}' }] },
      { ...track, properties: { plan: 'silver' }, context: { traits: { plan: 'gold' } } },
      posted('silver'),
    ],
    [
      'an old text with a helper',
      { eventTemplates: [{ eventName: '*', text: 'row {{#if row}}7{{/if}}' }] },
      track,
      posted('row 7'),
    ],
    ['blocks that are no list', { eventTemplates: [{ eventName: '*', text: 'a', blocks: 'b' }] }, track, posted('a')],
    [
      'a bot without a channel',
      { webhookUrl: '', botToken: 'xoxb-x7Hq2exampleOnly' },
      track,
      { error: 'channel is missing: a bot token needs one' },
    ],
    [
      'a bot with a channel for all',
      { webhookUrl: '', botToken: 'xoxb-x7Hq2exampleOnly', channel: 'C1' },
      track,
      sentAsBot({ channel: 'C1', text: 'Seat Reserved by u-4711' }),
    ],
    ['a channel without a bot', { channel: 'C1' }, track, posted('Seat Reserved by u-4711')],
    ['no address', { webhookUrl: '' }, track, invalid],
    ['an address that is no text', { webhookUrl: 7 }, track, invalid],
  ]
  return table.map(([name, config, event, expected]) => ({ name, config: { webhookUrl, ...config }, event, expected }))
}

const ADA = 'ada@mail.example'
const notIdentified = { error: 'message type identify not supported' }

type Row = [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']]

/** The name of a user by the first that the event has. */
function nameCases(): Row[] {
  const config = { eventTemplates: [{ eventName: '*', text: 'by {{name}}' }] }
  const all: [member: string, traits: JsonObject, properties: JsonObject, more: JsonObject][] = [
    ['Ada K', { name: 'Ada K', firstName: 'Ada', username: 'ada' }, { email: 'p@mail.example' }, {}],
    ['Ada', { name: ' ', firstName: 'Ada', username: 'ada' }, {}, {}],
    ['ada', { username: 'ada', email: 't@mail.example' }, { email: 'p@mail.example' }, {}],
    ['p@mail.example', { email: 't@mail.example' }, { email: 'p@mail.example' }, {}],
    ['t@mail.example', { email: 't@mail.example' }, { name: 'not the user' }, {}],
    ['User u-4711', {}, {}, { anonymousId: 'a-9' }],
    ['Anonymous user a-9', {}, {}, { userId: '', anonymousId: 'a-9' }],
  ]
  return all.map(([name, traits, properties, more]) => [
    `the user is called ${name}`,
    config,
    { ...track, properties, context: { traits }, ...more },
    posted(`by ${name}`),
  ])
}

function patternCases(): Row[] {
  const fitting = ['*', 'Seat*', '*Reserved', 'S*t*d', 'Seat Reserved*', '**', '*e*e*e*']
  const others = ['seat*', '*seat', 'Seat', 'Seat*Seat', 'S*d*d', '*Reserved*d', 'Seat Reserved?*']
  return [...fitting, ...others].map((eventName) => [
    `the pattern ${eventName}`,
    { eventTemplates: [{ eventName, text: 'it fits' }] },
    track,
    fitting.includes(eventName) ? posted('it fits') : nothing,
  ])
}

export const cases: DestinationCase[] = [...shownExamples, ...others()]
