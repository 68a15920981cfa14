import { describe, expect, test } from 'vitest'
import { TestPlane } from '../testing/test-plane.ts'

const CANARY = 'canary-7Hq2'
const HOOK = 'https://hooks.cinema.example/in'
const WRITE_KEY = '3PS3MKgFh6ZTxDaxUjKBsLaUg1r'
const headers = (to: string) => [
  { from: 'Authorization', to },
  { from: 'X-Desk', to: '3' },
]

/** The document of the contract, without code. */
function cinema(token = CANARY) {
  return {
    millrace: 1,
    sources: {
      'cinema-app': {
        name: 'Cinema app',
        type: 'Cordova',
        enabled: true,
        writeKey: WRITE_KEY,
        config: { rateLimitEventsPerMinute: 60000 },
      },
    },
    libraries: {},
    transformations: {},
    destinations: {
      'booking-hook': {
        name: 'Booking hook',
        type: 'WEBHOOK',
        enabled: true,
        transformations: [],
        config: { webhookUrl: HOOK, webhookMethod: 'POST', headers: headers(token) },
        delivery: { ordering: 'strict' },
      },
    },
    connections: [{ source: 'cinema-app', destination: 'booking-hook', enabled: true }],
  }
}

async function apply(plane: TestPlane, document: object, more: object = {}) {
  const { revision } = await plane.ok('GET', '/v2/config')
  return plane.send('POST', '/v2/config/apply', { body: { document, prune: false, revision, ...more } })
}

async function applied(plane: TestPlane, document: object, more: object = {}) {
  const answer = await apply(plane, document, more)
  expect(answer.text).not.toContain('"error"')
  return answer.body
}

const plan = (plane: TestPlane, document: object, prune = false) =>
  plane.ok('POST', '/v2/config/plan', { document, prune })

describe('pull', () => {
  test('gives every resource whole, by key, with masked secrets', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const answer = await plane.send('GET', '/v2/config')
    expect(answer.headers['etag']).toBe(`"${answer.body.revision}"`)
    expect(answer.text).not.toContain(CANARY)
    const { sources, destinations, connections } = cinema()
    expect(answer.body).toEqual({
      revision: plane.plane.snapshot().revision,
      document: {
        millrace: 1,
        sources: {
          'cinema-app': {
            ...sources['cinema-app'],
            config: {
              rateLimitEventsPerMinute: 60000,
              dedupWindowSeconds: 0,
              orderShards: 1,
              catalog: { samples: 'full', values: 'on' },
            },
          },
        },
        destinations: {
          'booking-hook': {
            name: 'Booking hook',
            type: 'WEBHOOK',
            enabled: true,
            config: { ...destinations['booking-hook'].config, headers: headers('********') },
            delivery: {
              concurrency: 100,
              ordering: 'strict',
              throttle: null,
              onTransformationError: 'dead_letter',
            },
          },
        },
        connections,
      },
    })
  })

  test('is in order of the keys, whatever the order of creation', async () => {
    await using plane = await TestPlane.open()
    const made = []
    for (const name of ['m', 'b', 'z']) made.push(await plane.source({ name }))
    const hook = await plane.destination({ name: 'a' })
    for (const { id } of made) await plane.connection(id, hook.id)
    const { document } = await plane.ok('GET', '/v2/config')
    expect(Object.keys(document.sources)).toEqual(['b', 'm', 'z'])
    expect(document.connections.map(({ source }: { source: string }) => source)).toEqual(['b', 'm', 'z'])
  })

  test('then plan, shows no change', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const { revision, document } = await plane.ok('GET', '/v2/config')
    for (const prune of [false, true]) {
      expect(await plan(plane, document, prune)).toEqual({ revision, changes: [], errors: [] })
    }
    expect(await applied(plane, document, { prune: true })).toEqual({ revision, changes: [] })
  })
})

describe('plan', () => {
  test('shows what would be created and, of what would be updated, each path; secrets only as changed', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, { ...cinema(), connections: [] })
    const { revision } = await plane.ok('GET', '/v2/config')
    const document = cinema(`${CANARY}-2`)
    Object.assign(document.destinations['booking-hook'], { enabled: false })
    Object.assign(document.sources, { web: { name: 'Web', type: 'Javascript' } })
    const answer = await plane.send('POST', '/v2/config/plan', { body: { document } })
    expect(answer.text).not.toContain(CANARY)
    expect(answer.body).toEqual({
      revision,
      changes: [
        { action: 'create', kind: 'source', key: 'web', diff: [] },
        {
          action: 'update',
          kind: 'destination',
          key: 'booking-hook',
          diff: [
            { path: '/enabled', from: true, to: false },
            { path: '/config/headers/0/to', from: '********', to: '********', secretChanged: true },
          ],
        },
        { action: 'create', kind: 'connection', key: 'cinema-app/booking-hook', diff: [] },
      ],
      errors: [],
    })
    expect((await plane.ok('GET', '/v2/config')).revision).toBe(revision)
  })

  test('what is left out of a resource gets its default, as with PUT, and keeps its write key', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const sources = { 'cinema-app': { name: 'Cinema app', type: 'Cordova', enabled: false } }
    expect((await plan(plane, { millrace: 1, sources })).changes).toEqual([
      {
        action: 'update',
        kind: 'source',
        key: 'cinema-app',
        diff: [
          { path: '/enabled', from: true, to: false },
          { path: '/config/rateLimitEventsPerMinute', from: 60000, to: 0 },
        ],
      },
    ])
  })

  test('is for viewers, apply for editors', async () => {
    await using plane = await TestPlane.open()
    const viewer = await plane.token('viewer')
    const body = { document: cinema(), revision: 0 }
    expect((await plane.send('GET', '/v2/config', { token: viewer })).status).toBe(200)
    const planned = await plane.send('POST', '/v2/config/plan', { token: viewer, body: { document: cinema() } })
    expect(planned.status).toBe(200)
    expect(await plane.send('POST', '/v2/config/apply', { token: viewer, body })).toMatchObject({ status: 403 })
    expect((await plane.send('POST', '/v2/config/apply', { token: await plane.token('editor'), body })).status).toBe(
      200,
    )
  })
})

describe('apply', () => {
  test('into an empty server makes what the document says, in one revision, and it is in force', async () => {
    await using plane = await TestPlane.open()
    expect(await applied(plane, cinema())).toEqual({
      revision: 1,
      changes: [
        { action: 'create', kind: 'source', key: 'cinema-app', diff: [] },
        { action: 'create', kind: 'destination', key: 'booking-hook', diff: [] },
        { action: 'create', kind: 'connection', key: 'cinema-app/booking-hook', diff: [] },
      ],
    })
    expect(plane.deliveries.heard).toEqual(['changed 0 to 1'])
    await plane.reopen()
    const source = plane.plane.snapshot().sourceByWriteKey(WRITE_KEY)!
    expect(source.key).toBe('cinema-app')
    expect(plane.plane.snapshot().connectionsOf(source.id)).toHaveLength(1)
    const [destination] = plane.plane.snapshot().destinations.values()
    expect(destination!.config['headers']).toEqual(headers(CANARY))
  })

  test('what one change makes is in the order of the document, before and after a restart', async () => {
    await using plane = await TestPlane.open()
    const keys = Array.from({ length: 50 }, (_, n) => `s-${(n * 37) % 50}`)
    const sources = Object.fromEntries(keys.map((key) => [key, { name: key, type: 'HTTP' }]))
    await applied(plane, { millrace: 1, sources })
    const listed = async () =>
      (await plane.ok('GET', '/v2/sources?limit=500')).sources.map((source: { key: string }) => source.key)
    expect(await listed()).toEqual(keys)
    await plane.reopen()
    expect(await listed()).toEqual(keys)
  })

  test('masks keep the saved secrets, matched by name', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const document = cinema()
    document.destinations['booking-hook'].config.headers = [
      { from: 'X-New', to: 'n' },
      { from: 'authorization', to: '********' },
    ]
    await applied(plane, document)
    const [destination] = plane.plane.snapshot().destinations.values()
    expect(destination!.config['headers']).toEqual([
      { from: 'X-New', to: 'n' },
      { from: 'authorization', to: CANARY },
    ])
  })

  test.each([
    ['another host with masks', { webhookUrl: 'https://elsewhere.example/in' }],
    ['a host that may also receive the secrets', { allowedHosts: ['elsewhere.example'] }],
  ])('%s drops the saved secrets, and plan and apply say so', async (_, changed) => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const document = cinema('********')
    Object.assign(document.destinations['booking-hook'].config, changed)
    const warning = 'booking-hook: The saved secrets were removed because they could reach another host'
    const planned = await plane.send('POST', '/v2/config/plan', { body: { document } })
    expect(planned.headers['x-millrace-warning']).toBe(warning)
    expect((await apply(plane, document)).headers['x-millrace-warning']).toBe(warning)
    const [destination] = plane.plane.snapshot().destinations.values()
    expect(JSON.stringify(destination)).not.toContain(CANARY)
  })

  test('of another revision than the current one is refused', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const document = { ...cinema(), sources: {}, connections: [] }
    for (const revision of [0, 2]) {
      const refused = await apply(plane, document, { revision, prune: true })
      expect([refused.status, refused.body]).toEqual([
        409,
        { error: 'Configuration has changed', code: 'conflict', details: null },
      ])
    }
    expect((await plan(plane, cinema(), true)).changes).toEqual([])
  })

  test('without prune nothing is removed, with it everything that the document does not name', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const other = { millrace: 1, sources: { web: { name: 'Web', type: 'Javascript', writeKey: WRITE_KEY } } }
    const named = { ...other, sources: { web: { ...other.sources.web, writeKey: `${WRITE_KEY}2` } } }
    expect((await applied(plane, named)).changes).toEqual([{ action: 'create', kind: 'source', key: 'web', diff: [] }])
    const counts = () => {
      const { sources, destinations, connections } = plane.plane.snapshot()
      return [sources.size, destinations.size, connections.size]
    }
    expect(counts()).toEqual([2, 1, 1])
    await applied(plane, { millrace: 1 })
    expect(counts()).toEqual([2, 1, 1])
    // The write key of a source that goes may be given to another in the same change.
    expect((await applied(plane, other, { prune: true })).changes).toEqual([
      { action: 'delete', kind: 'connection', key: 'cinema-app/booking-hook', diff: [] },
      { action: 'delete', kind: 'destination', key: 'booking-hook', diff: [] },
      { action: 'delete', kind: 'source', key: 'cinema-app', diff: [] },
      {
        action: 'update',
        kind: 'source',
        key: 'web',
        diff: [{ path: '/writeKey', from: `${WRITE_KEY}2`, to: WRITE_KEY }],
      },
    ])
    expect(counts()).toEqual([1, 0, 0])
  })

  test('removes what events wait for only with discard', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    plane.deliveries.waitingEvents = 7
    // Of source, destination and their connection, whose events belong to both.
    const refused = await apply(plane, { millrace: 1 }, { prune: true })
    expect([refused.status, refused.body]).toEqual([
      409,
      { error: 'Events are waiting', code: 'conflict', details: { waiting: 7 } },
    ])
    expect((await plan(plane, cinema(), true)).changes).toEqual([])
    await applied(plane, { ...cinema(), connections: [] })
    const connectionOnly = await apply(plane, { ...cinema(), connections: [] }, { prune: true })
    expect(connectionOnly.body.details).toEqual({ waiting: 7 })
    await applied(plane, { millrace: 1 }, { prune: true, discard: true })
    expect(plane.plane.snapshot().destinations.size).toBe(0)
  })

  test('that cannot be stored changes nothing', async () => {
    await using plane = await TestPlane.open()
    const document = cinema()
    Object.assign(document.destinations, { broken: { ...document.destinations['booking-hook'], type: 'NOPE' } })
    const refused = await apply(plane, document)
    expect(refused.status).toBe(422)
    expect((await plane.ok('GET', '/v2/config')).document).toEqual({
      millrace: 1,
      sources: {},
      destinations: {},
      connections: [],
    })
  })
})

describe('a document with errors', () => {
  test('every error is told with its path, by plan and by apply, and nothing is changed', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const before = await plane.ok('GET', '/v2/config')
    const document = {
      millrace: 2,
      colour: 'blue',
      libraries: { 'price-rules': {} },
      transformations: [],
      sources: {
        'cinema-app': { name: 'Cinema app', type: 'HTTP', writeKey: 'short' },
        UPPER: {},
        'a/b': {},
        list: [],
        one: {
          type: 'Fridge',
          enabled: 'yes',
          colour: 'blue',
          config: { orderShards: 65, shade: 1, catalog: { samples: 'x', values: 'y' } },
        },
        two: { name: '', type: 'HTTP', writeKey: WRITE_KEY },
      },
      destinations: {
        hook: {
          name: 'n'.repeat(201),
          type: 'WEBHOOK',
          transformations: ['add-cents'],
          config: { signingSecret: '********', headers: headers('********') },
          delivery: { ordering: 'loose', throttle: { limit: 0 } },
        },
        'booking-hook': { name: 'Booking hook', type: 'CLOUD_ONLY' },
        ok: { name: 'Ok', type: 'CLOUD_ONLY', config: { webhookUrl: HOOK } },
        gone: { name: 'Gone' },
      },
      connections: [
        { source: 'cinema-app', destination: 'nowhere', enabled: 1 },
        { source: 'two' },
        'x',
        { source: 'web', destination: 'ok' },
        { source: 'web', destination: 'ok' },
      ],
    }
    const complete = { ...document, sources: { ...document.sources, web: { name: 'Web', type: 'Pixel' } } }
    const errors = [
      ['/millrace', 'must be 1'],
      ['/colour', 'Unknown member: colour'],
      ['/sources/UPPER', 'must have a key of 1 to 64 characters a-z, 0-9 and -'],
      ['/sources/a~1b', 'must have a key of 1 to 64 characters a-z, 0-9 and -'],
      ['/sources/list', 'must be an object'],
      ['/transformations', 'must be an object'],
      ['/connections/2', 'must be an object'],
      ['/sources/cinema-app/type', 'type cannot be changed'],
      ['/sources/cinema-app/writeKey', 'writeKey must have 20 to 64 characters 0-9, A-Z, a-z'],
      ['/sources/one/colour', 'Unknown member: colour'],
      ['/sources/one/name', 'name is required'],
      [
        '/sources/one/type',
        'Unknown source type Fridge; known are Cordova, Javascript, Android, iOS, ReactNative, Flutter, Node, Python, Go, Java, Ruby, PHP, DotNet, Kotlin, Swift, Rust, Unity, AMP, Shopify, HTTP, Pixel, Webhook',
      ],
      ['/sources/one/enabled', 'enabled must be a boolean'],
      ['/sources/one/config/shade', 'is not known'],
      ['/sources/one/config/orderShards', 'must be an integer from 1 to 64'],
      ['/sources/one/config/catalog/samples', 'must be "full" or "masked" or "off"'],
      ['/sources/one/config/catalog/values', 'must be "on" or "off"'],
      ['/sources/two/name', 'name is required'],
      ['/sources/two/writeKey', 'writeKey is already in use'],
      ['/libraries/price-rules/name', 'name is required'],
      ['/libraries/price-rules/code', 'code is required'],
      ['/destinations/hook/name', 'name is too long'],
      ['/destinations/hook/config/signingSecret', 'has no saved value'],
      ['/destinations/hook/config/headers/0/to', 'has no saved value'],
      ['/destinations/hook/config/webhookUrl', 'is required'],
      ['/destinations/hook/transformations/0', 'Transformation with key add-cents not found'],
      ['/destinations/hook/delivery/ordering', 'must be "strict" or "none"'],
      ['/destinations/hook/delivery/throttle/limit', 'must be an integer from 1 to 1000000'],
      ['/destinations/booking-hook/type', 'type cannot be changed'],
      ['/destinations/gone/type', 'type is required'],
      ['/connections/0/enabled', 'enabled must be a boolean'],
      ['/connections/0/destination', 'Destination with key nowhere not found'],
      ['/connections/1/destination', 'destination is required'],
      ['/connections/3', 'Destination type CLOUD_ONLY does not support source type web'],
      ['/connections/4', 'Connection already exists'],
    ].map(([path, message]) => ({ path, message }))
    expect((await plan(plane, complete)).errors).toEqual(errors)
    const refused = await apply(plane, complete)
    expect([refused.status, refused.body]).toEqual([
      422,
      { error: 'Invalid config', code: 'invalid_config', details: { errors } },
    ])
    expect(await plane.ok('GET', '/v2/config')).toEqual(before)
  })

  test('what prune removes is not there to be connected', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const { errors } = await plan(plane, { ...cinema(), sources: {} }, true)
    expect(errors).toEqual([{ path: '/connections/0/source', message: 'Source with key cinema-app not found' }])
  })

  test('removes nothing by what it means to name', async () => {
    await using plane = await TestPlane.open()
    await applied(plane, cinema())
    const { changes, errors } = await plan(plane, { ...cinema(), sources: { 'cinema-app': [] } }, true)
    expect(errors).toContainEqual({ path: '/sources/cinema-app', message: 'must be an object' })
    expect(changes).toEqual([])
  })

  test('has at most 1,000 of them', async () => {
    await using plane = await TestPlane.open()
    const connections = Array.from({ length: 3_000 }, () => 1)
    const { errors } = await plan(plane, { millrace: 1, connections })
    expect(errors).toHaveLength(1_001)
    expect(errors.at(-1)).toEqual({ path: '', message: 'has more than 1000 errors' })
  })
})

test.each<[string, string, object, number, string]>([
  ['no document', 'plan', {}, 400, 'document must be an object'],
  ['a document that is a list', 'plan', { document: [] }, 400, 'document must be an object'],
  ['prune that is no boolean', 'plan', { document: {}, prune: 1 }, 400, 'prune must be a boolean'],
  ['a revision in a plan', 'plan', { document: {}, revision: 1 }, 400, 'Unknown member: revision'],
  ['no revision', 'apply', { document: {} }, 400, 'revision must be an integer'],
  ['discard that is no boolean', 'apply', { document: {}, revision: 0, discard: 0 }, 400, 'discard must be a boolean'],
  ['an unknown member', 'apply', { document: {}, revision: 0, force: true }, 400, 'Unknown member: force'],
  ['4,000 KB', 'plan', { document: { millrace: 1 }, pad: 'x'.repeat(4_095_900) }, 400, 'Unknown member: pad'],
  ['more than 4,000 KB', 'plan', { pad: 'x'.repeat(4_096_000) }, 413, 'Request size exceeds max limit'],
  ['more than 4,000 KB', 'apply', { pad: 'x'.repeat(4_096_000) }, 413, 'Request size exceeds max limit'],
])('%s: %s is refused', async (_, route, body, status, error) => {
  await using plane = await TestPlane.open()
  const answer = await plane.send('POST', `/v2/config/${route}`, { body })
  expect([answer.status, answer.body.error]).toEqual([status, error])
})

test('an apply leaves one audit entry for each resource that it changes, without secrets and write keys', async () => {
  await using plane = await TestPlane.open()
  const { source } = await plane.ok('POST', '/v2/sources', { name: 'Old', type: 'HTTP' })
  await plane.ok('POST', '/v2/sources', { name: 'Gone', type: 'HTTP' })
  const { document, revision } = await plane.ok('GET', '/v2/config')
  const writeKey = 'abcdefghijklmnopqrst'
  const config = { webhookUrl: 'https://hooks.cinema.example/in', headers: [{ from: 'Authorization', to: 's3cret' }] }
  const applied = {
    document: {
      ...document,
      sources: { old: { ...document.sources.old, name: 'New', writeKey } },
      destinations: { hook: { name: 'Hook', type: 'WEBHOOK', config } },
    },
    revision,
    prune: true,
  }
  await plane.ok('POST', '/v2/config/apply', applied)
  const { entries } = await plane.ok('GET', '/v2/audit-log')
  const told = entries
    .slice(0, 3)
    .map(({ action, kind, actor, diff }: Record<string, unknown>) => [action, kind, actor, diff])
  expect(told).toEqual([
    ['create', 'destination', 'owner@localhost', []],
    [
      'update',
      'source',
      'owner@localhost',
      [
        { path: '/name', from: 'Old', to: 'New' },
        { path: '/writeKey', from: '********', to: '********', secretChanged: true },
      ],
    ],
    ['delete', 'source', 'owner@localhost', []],
  ])
  expect(JSON.stringify(entries)).not.toContain(writeKey)
  expect(JSON.stringify(entries)).not.toContain(source.writeKey)
})
