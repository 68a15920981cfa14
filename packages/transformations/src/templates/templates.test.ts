import { createHash, createHmac } from 'node:crypto'
import type { JsonObject } from '@millrace/protocol'
import { afterAll, describe, expect, test } from 'vitest'
import type { TransformFetch, TransformRequest } from '../fetch.ts'
import type { Run } from '../run.ts'
import { closeAll, essences, open, runOf } from '../under-test.ts'
import type { TransformationTemplate } from './template.ts'
import { transformationTemplates } from './templates.ts'

const requests: TransformRequest[] = []
const answers: Record<string, string> = { '/users/u%201': '{"plan":"pro","secret":1}', '/users/none': 'not found' }
const fetch: TransformFetch = async (request) => {
  requests.push(request)
  const body = answers[new URL(request.url).pathname]
  if (body === undefined) return { ok: false, message: 'no answer' }
  return { ok: true, url: request.url, status: 200, headers: {}, body }
}
const transformations = open({ fetch })
afterAll(closeAll)

const template = (id: string): TransformationTemplate => transformationTemplates.find((each) => each.id === id)!

async function outputs(id: string, given: readonly JsonObject[], more: Partial<Run> = {}) {
  const { code, language } = template(id)
  const step = { transformationId: id, versionId: id, language, code, libraries: [] }
  const events = given.map((event) => ({ event, metadata: {} }))
  return essences(await transformations.run(runOf([step], { events, ...more })))
}

test('each can be saved as it is, under a name of its own', async () => {
  for (const { code, language } of transformationTemplates) {
    expect(await transformations.check({ kind: 'transformation', language, code }, [])).toMatchObject({ ok: true })
  }
  for (const member of ['id', 'name'] as const) {
    expect(new Set(transformationTemplates.map((each) => each[member])).size).toBe(4)
  }
})

describe('mask personal data', () => {
  const masked = (text: string, key = '') => createHmac('sha256', key).update(text).digest('hex')

  test('wherever it is, and nothing else', async () => {
    const event = {
      type: 'identify',
      userId: 'u',
      traits: {
        email: ' Ann@A.example',
        plan: 'pro',
        list: [{ first_name: 'Ann', n: 1 }],
        address: { street: 'Main' },
      },
      properties: { phone: '', lastName: null, name: 7 },
      context: { ip: '1.2.3.4', traits: { 'E-Mail': 'ann@a.example' }, app: { name: 'Shop' } },
    }
    expect(await outputs('mask-personal-data', [event])).toEqual([
      [
        {
          type: 'identify',
          userId: 'u',
          traits: {
            email: masked('ann@a.example'),
            plan: 'pro',
            list: [{ first_name: masked('ann'), n: 1 }],
            address: masked('{"street":"main"}'),
          },
          properties: { phone: '', lastName: null, name: masked('7') },
          context: { ip: masked('1.2.3.4'), traits: { 'E-Mail': masked('ann@a.example') }, app: { name: 'Shop' } },
        },
      ],
    ])
  })

  test('with the key that is saved', async () => {
    const credentials = new Map([['maskingKey', 'k']])
    const run = { credentials, mode: 'test' } as const
    const event = { type: 'track', properties: { email: 'a' } }
    expect(await outputs('mask-personal-data', [event], run)).toEqual([
      [{ type: 'track', properties: { email: masked('a', 'k') } }],
    ])
  })
})

test('keep listed fields: nothing else leaves', async () => {
  const event = {
    type: 'track',
    messageId: 'm',
    event: 'Order Completed',
    secret: 1,
    properties: { revenue: 5, note: 'x', products: [{ any: 1 }] },
    context: { app: { name: 'Shop' }, ip: '1.2.3.4' },
    constructor: 'x',
  }
  expect(
    await outputs('keep-listed-fields', [event, { type: 'page', properties: { note: 1 }, context: null }]),
  ).toEqual([
    [
      {
        type: 'track',
        event: 'Order Completed',
        messageId: 'm',
        properties: { revenue: 5, products: [{ any: 1 }] },
        context: { app: { name: 'Shop' } },
      },
    ],
    [{ type: 'page' }],
  ])
})

describe('sample by user', () => {
  const share = (person: string) =>
    Number.parseInt(createHash('md5').update(`sample 1${person}`).digest('hex').slice(0, 8), 16)
  const isIn = (person: string) => share(person) / 2 ** 32 < 0.1
  const people = Array.from({ length: 50 }, (_, n) => `user ${n}`)

  test('each person passes with all events or with none, and about a tenth does', async () => {
    const given = people.flatMap((person) => [
      { type: 'track', userId: person, anonymousId: 'a' },
      { type: 'page', anonymousId: person },
    ])
    const passed = (await outputs('sample-by-user', given)).map((outcome) => outcome !== 'dropped')
    expect(passed).toEqual(people.flatMap((person) => [isIn(person), isIn(person)]))
    expect(people.filter(isIn).length).toBeGreaterThan(0)
    expect(people.filter(isIn).length).toBeLessThan(15)
  })

  test('without a person only an alias passes', async () => {
    expect(await outputs('sample-by-user', [{ type: 'track' }, { type: 'alias' }])).toEqual([
      'dropped',
      [{ type: 'alias' }],
    ])
  })
})

test('enrich over HTTP: asks once for each user, and lets pass what it learns nothing about', async () => {
  const given = [
    { type: 'track', userId: 'u 1', context: { traits: { a: 1 } } },
    { type: 'page', userId: 'u 1' },
    { type: 'track', userId: 'none' },
    { type: 'track', userId: 'unknown' },
    { type: 'track', anonymousId: 'a' },
  ]
  const credentials = new Map([['crmToken', 'token']])
  expect(await outputs('enrich-over-http', given, { credentials })).toEqual([
    [{ type: 'track', userId: 'u 1', context: { traits: { a: 1, plan: 'pro' } } }],
    [{ type: 'page', userId: 'u 1', context: { traits: { plan: 'pro' } } }],
    [given[2]],
    [given[3]],
    [given[4]],
  ])
  expect(requests.map(({ url }) => url)).toEqual(
    ['u%201', 'none', 'unknown'].map((user) => `https://crm.example.com/users/${user}`),
  )
  expect(requests[0]!.headers).toEqual({ Authorization: 'Bearer token' })
})
