import { expect, test } from 'vitest'
import { TestPlane } from '../../testing/test-plane.ts'

const RULES = {
  otherwise: 'allow',
  list: [
    {
      action: 'deny',
      types: ['track'],
      events: { match: 'pattern', names: ['Debug *'] },
      conditions: [{ path: 'properties.value', operator: 'at_least', value: 100 }],
    },
  ],
}
const CONSENT = { categories: ['Advertising', 'Analytics'], require: 'all' }

async function connected(plane: TestPlane) {
  const [source, destination] = [await plane.source(), await plane.destination()]
  return { source, destination, connection: await plane.connection(source.id, destination.id) }
}

test('a connection keeps its rules over PATCH and restarts, and loses them by null and by PUT', async () => {
  await using plane = await TestPlane.open()
  const { connection } = await connected(plane)
  const path = `/v2/connections/${connection.id}`
  expect(connection).not.toHaveProperty('rules')
  expect((await plane.ok('PATCH', path, { rules: RULES })).connection.rules).toEqual(RULES)
  expect((await plane.ok('PATCH', path, { enabled: false })).connection.rules).toEqual(RULES)
  await plane.reopen()
  expect((await plane.ok('GET', path)).connection.rules).toEqual(RULES)
  expect((await plane.ok('PATCH', path, { rules: null })).connection).not.toHaveProperty('rules')
  await plane.ok('PATCH', path, { rules: RULES })
  expect((await plane.ok('PUT', path, {})).connection).not.toHaveProperty('rules')
})

test('a new connection can come with rules', async () => {
  await using plane = await TestPlane.open()
  const [source, destination] = [await plane.source(), await plane.destination()]
  const written = { sourceId: source.id, destinationId: destination.id, rules: { list: RULES.list } }
  expect((await plane.ok('POST', '/v2/connections', written)).connection.rules).toEqual(RULES)
})

test('faults of rules and consent are 422 with their path, and nothing is saved', async () => {
  await using plane = await TestPlane.open()
  const { source, destination, connection } = await connected(plane)
  const faults: [string, object, string, string][] = [
    [`connections/${connection.id}`, { rules: [] }, '/rules', 'must be an object'],
    [
      `connections/${connection.id}`,
      { rules: { list: [{ action: 'deny', conditions: [{ path: 'a', operator: 'at_least', value: 'x' }] }] } },
      '/rules/list/0/conditions/0/value',
      'must be a number',
    ],
    [`destinations/${destination.id}`, { consent: [] }, '/consent', 'must be an object'],
    [`destinations/${destination.id}`, { consent: {} }, '/consent/categories', 'must be a list'],
    [`destinations/${destination.id}`, { consent: { categories: [] } }, '/consent/categories', 'must not be empty'],
    [
      `destinations/${destination.id}`,
      { consent: { categories: ['a', 'a'] } },
      '/consent/categories/1',
      'is listed twice',
    ],
    [
      `destinations/${destination.id}`,
      { consent: { categories: Array.from({ length: 21 }, (_, i) => `c${i}`) } },
      '/consent/categories',
      'must have at most 20 entries',
    ],
    [
      `destinations/${destination.id}`,
      { consent: { categories: ['a'], require: 'most' } },
      '/consent/require',
      'must be "all" or "any"',
    ],
    [
      `sources/${source.id}`,
      { config: { withoutConsent: 'drop' } },
      '/withoutConsent',
      'must be "send" or "hold_back"',
    ],
  ]
  const revision = async () => (await plane.ok('GET', '/v2/admin/info')).revision
  const before = await revision()
  for (const [path, body, place, message] of faults) {
    const answer = await plane.send('PATCH', `/v2/${path}`, { body })
    expect([answer.status, answer.body.error, answer.body.details]).toEqual([
      422,
      'Invalid config',
      { path: place, message },
    ])
  }
  expect(await revision()).toBe(before)
})

test('the consent of a destination is shown where there is one', async () => {
  await using plane = await TestPlane.open()
  const { id } = await plane.destination({ consent: { categories: CONSENT.categories } })
  const path = `/v2/destinations/${id}`
  expect((await plane.ok('GET', path)).destination.consent).toEqual(CONSENT)
  expect((await plane.ok('PATCH', path, { enabled: false })).destination.consent).toEqual(CONSENT)
  expect((await plane.ok('PATCH', path, { consent: null })).destination).not.toHaveProperty('consent')
})

test('what becomes of events without consent is shown where it is not the default', async () => {
  await using plane = await TestPlane.open()
  const { id } = await plane.source({ config: { withoutConsent: 'hold_back' } })
  expect((await plane.ok('GET', `/v2/sources/${id}`)).source.config.withoutConsent).toBe('hold_back')
  const { source } = await plane.ok('PATCH', `/v2/sources/${id}`, { config: { withoutConsent: 'send' } })
  expect(source.config).not.toHaveProperty('withoutConsent')
})

test('the audit log tells what of the rules has changed', async () => {
  await using plane = await TestPlane.open()
  const { connection } = await connected(plane)
  await plane.ok('PATCH', `/v2/connections/${connection.id}`, { rules: RULES })
  const otherwise = structuredClone(RULES)
  otherwise.list[0]!.conditions[0]!.value = 200
  await plane.ok('PATCH', `/v2/connections/${connection.id}`, { rules: otherwise })
  const { entries } = await plane.ok('GET', '/v2/audit-log?kind=connection&limit=2')
  expect(entries.map(({ diff }: { diff: object }) => diff)).toEqual([
    [{ path: '/rules/list/0/conditions/0/value', from: 100, to: 200 }],
    [{ path: '/rules', from: null, to: RULES }],
  ])
})

test('a document brings rules and consent, shows what it would change, and says where they are wrong', async () => {
  await using plane = await TestPlane.open()
  await connected(plane)
  const { document, revision } = await plane.ok('GET', '/v2/config')
  expect(document.connections).toEqual([{ source: 'cinema-app', destination: 'hook', enabled: true }])
  document.connections[0].rules = { list: RULES.list }
  document.destinations.hook.consent = { categories: ['Advertising'] }
  document.sources['cinema-app'].config.withoutConsent = 'hold_back'
  const plan = await plane.ok('POST', '/v2/config/plan', { document })
  expect(plan.changes.map(({ key, diff }: { key: string; diff: object }) => [key, diff])).toEqual([
    ['cinema-app', [{ path: '/config/withoutConsent', from: null, to: 'hold_back' }]],
    ['hook', [{ path: '/consent', from: null, to: { categories: ['Advertising'], require: 'all' } }]],
    ['cinema-app/hook', [{ path: '/rules', from: null, to: RULES }]],
  ])
  await plane.ok('POST', '/v2/config/apply', { document, revision })
  const saved = (await plane.ok('GET', '/v2/config')).document
  expect(saved.connections[0].rules).toEqual(RULES)
  expect(saved.destinations.hook.consent).toEqual({ categories: ['Advertising'], require: 'all' })
  expect((await plane.ok('POST', '/v2/config/plan', { document: saved })).changes).toEqual([])

  saved.connections[0].rules.list[0].types = ['click']
  saved.destinations.hook.consent = { categories: [7] }
  const { errors } = await plane.ok('POST', '/v2/config/plan', { document: saved })
  expect(errors).toEqual([
    { path: '/destinations/hook/consent/categories/0', message: 'must be a text' },
    {
      path: '/connections/0/rules/list/0/types/0',
      message: 'must be "identify" or "track" or "page" or "screen" or "group" or "alias" or "merge"',
    },
  ])
  // What a document leaves out has its default, as with PUT.
  delete saved.connections[0].rules
  delete saved.destinations.hook.consent
  const removed = await plane.ok('POST', '/v2/config/plan', { document: saved })
  expect(removed.changes.map(({ key }: { key: string }) => key)).toEqual(['hook', 'cinema-app/hook'])
})

test('a viewer may count what rules would match, and the last 24 hours are meant', async () => {
  await using plane = await TestPlane.open()
  const { source } = await connected(plane)
  const token = await plane.token('viewer')
  const { status, body } = await plane.send('POST', '/v2/connections/rule-count', {
    token,
    body: { sourceId: source.id, rules: RULES },
  })
  expect([status, body]).toEqual([
    200,
    {
      from: '2026-02-26T16:40:11.004Z',
      to: '2026-02-27T16:40:11.004Z',
      complete: true,
      countedFrom: '2026-02-26T16:40:11.004Z',
      events: 8,
      sent: 7,
      matches: [1],
      otherwise: 7,
    },
  ])
})

test.each([
  [{}, 400, 'sourceId is required'],
  [{ sourceId: '<source>', colour: 1 }, 400, 'Unknown member: colour'],
  [{ sourceId: '<source>', from: 'yesterday' }, 400, 'Invalid time in from'],
  [
    { sourceId: '<source>', from: '2026-01-01T00:00:00.000Z', to: '2026-02-02T00:00:00.000Z' },
    400,
    'from must be before to, by at most 31 days',
  ],
  [{ sourceId: '3iidO0kXIpgrmam9JhPLS2gpoVe' }, 404, 'Source with id 3iidO0kXIpgrmam9JhPLS2gpoVe not found'],
  [{ sourceId: '<source>', rules: { list: 1 } }, 422, 'Invalid config'],
])('counting %j is refused', async (body, status, error) => {
  await using plane = await TestPlane.open()
  const { id } = await plane.source()
  const sent = JSON.parse(JSON.stringify(body).replace('<source>', id))
  const answer = await plane.send('POST', '/v2/connections/rule-count', { body: sent })
  expect([answer.status, answer.body.error]).toEqual([status, error])
})
