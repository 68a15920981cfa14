import { ApiError } from '@millrace/openapi'
import { describe, expect, test } from 'vitest'
import { TestPlane } from '../../testing/test-plane.ts'

const HOOK = 'https://hooks.cinema.example/in'
const CANARY = 'canary-7Hq2'

describe('sources', () => {
  test('a source answers as the contract shows it', async () => {
    await using plane = await TestPlane.open()
    const config = {
      rateLimitEventsPerMinute: 60000,
      dedupWindowSeconds: 0,
      orderShards: 1,
      catalog: { samples: 'full', values: 'on' },
    }
    const answer = await plane.send('POST', '/v2/sources', {
      body: { name: 'Cinema app', type: 'Cordova', enabled: true, config },
    })
    expect(answer.status).toBe(200)
    const { source } = answer.body
    expect(Object.entries(source)).toEqual([
      ['id', expect.stringMatching(/^[0-9A-Za-z]{27}$/)],
      ['key', 'cinema-app'],
      ['name', 'Cinema app'],
      ['type', 'Cordova'],
      ['writeKey', expect.stringMatching(/^[0-9A-Za-z]{27}$/)],
      ['enabled', true],
      ['config', config],
      ['workspaceId', plane.plane.workspaceId],
      ['createdAt', expect.stringMatching(/^2026-02-27T16:40:11\.\d{3}Z$/)],
      ['updatedAt', source.createdAt],
    ])
    expect((await plane.send('GET', `/v2/sources/${source.id}`)).body).toEqual({ source })
    expect((await plane.send('GET', '/v2/sources')).body).toEqual({
      sources: [source],
      paging: { total: 1, next: '' },
    })
  })

  test('what is left out of a config has its default', async () => {
    await using plane = await TestPlane.open()
    expect((await plane.source({ config: { orderShards: 4, catalog: { values: 'off' } } }))['config']).toEqual({
      rateLimitEventsPerMinute: 0,
      dedupWindowSeconds: 0,
      orderShards: 4,
      catalog: { samples: 'full', values: 'off' },
    })
  })

  test('a source of webhooks has settings of its own, which other types have not', async () => {
    await using plane = await TestPlane.open()
    const webhook = { eventPath: 'type', signature: 'stripe', secretCredential: 'stripe_hooks' }
    const source = await plane.source({ type: 'Webhook', config: { webhook } })
    const defaults = { userIdPath: '', anonymousIdPath: '', messageIdPath: '' }
    expect(source['config']).toMatchObject({ webhook: { ...defaults, ...webhook } })
    const renamed = (await plane.ok('PATCH', `/v2/sources/${source.id}`, { name: 'Renamed' })).source
    expect(renamed.config).toEqual(source['config'])
    const reset = (await plane.ok('PUT', `/v2/sources/${source.id}`, { name: 'Put' })).source
    expect(reset.config.webhook).toEqual({ eventPath: '', ...defaults, signature: 'none', secretCredential: '' })
    expect((await plane.source({ name: 'App' }))['config']).not.toHaveProperty('webhook')
  })

  test('what clients for other servers send is taken: a config of null, externalId and version, their source types', async () => {
    await using plane = await TestPlane.open()
    const more = { externalId: 'e-1', version: 3 }
    const types = ['Unity', 'AMP', 'Webhook', 'Shopify', 'Kotlin', 'Swift', 'Rust']
    for (const type of types) {
      const source = await plane.source({ type, config: null, ...more })
      expect(source).not.toHaveProperty('externalId')
      expect(source['config']).toMatchObject({ orderShards: 1 })
      await plane.ok('PATCH', `/v2/sources/${source.id}`, { config: { orderShards: 2 } })
      const patched = (await plane.ok('PATCH', `/v2/sources/${source.id}`, { config: null, ...more })).source
      expect(patched.config.orderShards).toBe(2)
      expect(
        (await plane.ok('PUT', `/v2/sources/${source.id}`, { name: 'x', config: null })).source.config.orderShards,
      ).toBe(1)
    }
    const { id: sourceId } = await plane.source({})
    const { id: destinationId } = await plane.destination(more)
    await plane.ok('POST', '/v2/connections', { connection: { sourceId, destinationId, ...more } })
  })

  test('PATCH changes only what it names, PUT resets the rest, read-only members are ignored', async () => {
    await using plane = await TestPlane.open()
    const before = await plane.source({ enabled: false, config: { orderShards: 4 } })
    const path = `/v2/sources/${before.id}`
    await plane.clock.advance(5_000)
    const patched = (await plane.ok('PATCH', path, { name: 'Renamed' })).source
    expect(patched).toEqual({ ...before, name: 'Renamed', updatedAt: patched.updatedAt })
    expect(patched.updatedAt > before['updatedAt']!).toBe(true)

    const readOnly = { id: 'other', key: 'other', workspaceId: 'other', createdAt: 'other', updatedAt: 'other' }
    const put = (await plane.ok('PUT', path, { source: { ...readOnly, name: 'Put' } })).source
    expect(put).toMatchObject({ id: before.id, key: 'cinema-app', name: 'Put', enabled: true })
    expect(put).toMatchObject({ writeKey: before.writeKey, type: 'Cordova', createdAt: before['createdAt'] })
    expect(put.config.orderShards).toBe(1)
  })

  test('keys are made from names and unique', async () => {
    await using plane = await TestPlane.open()
    const keys = []
    for (const name of ['Cinema app', 'Cinéma – App!', '映画', '映画', 'x'.repeat(200), 'x'.repeat(199)]) {
      keys.push((await plane.source({ name }))['key'])
    }
    const long = 'x'.repeat(64)
    expect(keys).toEqual(['cinema-app', 'cinema-app-2', 'source', 'source-2', long, `${long.slice(2)}-2`])
  })

  test('a given write key is taken, and freed when another takes its place', async () => {
    await using plane = await TestPlane.open()
    const writeKey = 'abcdefghijklmnopqrst'
    const source = await plane.source({ writeKey })
    expect(source.writeKey).toBe(writeKey)
    await plane.ok('PATCH', `/v2/sources/${source.id}`, { writeKey: `${writeKey}2` })
    expect(plane.plane.snapshot().sourceByWriteKey(writeKey)).toBeUndefined()
    expect((await plane.source({ writeKey })).writeKey).toBe(writeKey)
  })

  test('rotating with grace accepts both keys for that time, without grace only the new one', async () => {
    await using plane = await TestPlane.open()
    const earlier = await plane.source({ name: 'Earlier' })
    const first = await plane.source()
    const rotate = async (body?: object) =>
      (await plane.ok('POST', `/v2/sources/${first.id}/rotate-write-key`, body)).source
    const known = (key: string) => plane.plane.snapshot().sourceByWriteKey(key)?.id

    const second = await rotate({ graceHours: 24 })
    expect(second.writeKey).not.toBe(first.writeKey)
    await plane.clock.advance(24 * 3_600_000 - 1)
    await plane.reopen()
    expect([known(first.writeKey), known(second.writeKey)]).toEqual([first.id, first.id])
    const taken = { name: 'Other', type: 'HTTP', writeKey: first.writeKey }
    expect((await plane.send('POST', '/v2/sources', { body: taken })).status).toBe(409)
    await plane.clock.advance(1)
    expect([known(first.writeKey), known(second.writeKey)]).toEqual([undefined, first.id])

    // A key whose time is over may go to another source, and then belongs to that one alone.
    await plane.ok('PATCH', `/v2/sources/${earlier.id}`, { writeKey: first.writeKey })
    expect(known(first.writeKey)).toBe(earlier.id)

    const third = await rotate()
    expect([known(second.writeKey), known(third.writeKey)]).toEqual([undefined, first.id])
  })

  test('rotating without grace works with 100 keys in their grace period; one more such key is refused', async () => {
    await using plane = await TestPlane.open()
    const { id, writeKey } = await plane.source()
    const rotate = (body?: object) => plane.send('POST', `/v2/sources/${id}/rotate-write-key`, { body })
    for (let n = 0; n < 100; n++) expect((await rotate({ graceHours: 24 })).status).toBe(200)
    const refused = { status: 409, body: { error: 'Too many previous write keys', code: 'conflict' } }
    expect(await rotate({ graceHours: 24 })).toMatchObject(refused)
    const known = (key: string) => plane.plane.snapshot().sourceByWriteKey(key)?.id
    for (const body of [{ graceHours: 0 }, {}, undefined]) {
      const before = plane.plane.snapshot().sources.get(id)!.writeKey
      expect((await rotate(body)).status).toBe(200)
      expect([known(before), known(writeKey)]).toEqual([undefined, id])
    }
    expect(await rotate({ graceHours: 1 })).toMatchObject(refused)
  })

  test('deleting a source stops its write key at once', async () => {
    await using plane = await TestPlane.open()
    const { id, writeKey } = await plane.source()
    expect(await plane.send('DELETE', `/v2/sources/${id}`)).toMatchObject({ status: 204, text: '' })
    expect(plane.plane.snapshot().sourceByWriteKey(writeKey)).toBeUndefined()
    expect((await plane.send('DELETE', `/v2/sources/${id}`)).status).toBe(404)
  })
})

describe('destinations', () => {
  test('a destination answers as the contract shows it', async () => {
    await using plane = await TestPlane.open()
    const headers = [
      { from: 'Authorization', to: `Bearer ${CANARY}` },
      { from: 'X-Desk', to: '3' },
    ]
    const delivery = {
      concurrency: 100,
      ordering: 'strict',
      throttle: { limit: 45, windowSeconds: 20 },
      onTransformationError: 'dead_letter',
    }
    const config = { webhookUrl: HOOK, webhookMethod: 'POST', headers }
    const destination = await plane.destination({ name: 'Booking hook', config, delivery })
    expect(Object.entries(destination)).toEqual([
      ['id', expect.stringMatching(/^[0-9A-Za-z]{27}$/)],
      ['key', 'booking-hook'],
      ['name', 'Booking hook'],
      ['type', 'WEBHOOK'],
      ['enabled', true],
      ['config', { ...config, headers: [{ from: 'Authorization', to: '********' }, headers[1]] }],
      ['transformationIds', []],
      ['delivery', delivery],
      ['workspaceId', plane.plane.workspaceId],
      ['createdAt', expect.any(String)],
      ['updatedAt', destination['createdAt']],
    ])
    expect(plane.plane.destinations.get(destination.id).config).toEqual(config)
  })

  test('delivery has its defaults; keepAnswers is shown where it was chosen', async () => {
    await using plane = await TestPlane.open()
    const defaults = {
      concurrency: 100,
      ordering: 'strict',
      throttle: null,
      onTransformationError: 'dead_letter',
    }
    expect((await plane.destination())['delivery']).toEqual(defaults)
    const chosen = await plane.destination({ delivery: { keepAnswers: 'all', ordering: 'none' } })
    expect(chosen['delivery']).toEqual({ ...defaults, keepAnswers: 'all', ordering: 'none' })
    expect((await plane.ok('PATCH', `/v2/destinations/${chosen.id}`, { delivery: {} })).destination.delivery).toEqual(
      defaults,
    )
  })

  const SECRET_CONFIG = {
    webhookUrl: `https://desk:${CANARY}-password@hooks.cinema.example/in`,
    signingSecret: `${CANARY}-signing`,
    headers: [
      { from: 'Authorization', to: `Bearer ${CANARY}` },
      { from: 'X-Desk', to: '3' },
    ],
  }

  test('no answer and no file shows a secret; written back masked, every secret stays', async () => {
    await using plane = await TestPlane.open()
    const sent = await plane.send('POST', '/v2/destinations', {
      body: { name: 'Hook', type: 'WEBHOOK', config: SECRET_CONFIG },
    })
    const path = `/v2/destinations/${sent.body.destination.id}`
    const source = await plane.source()
    await plane.connection(source.id, sent.body.destination.id)
    const shown = [sent]
    for (const get of [path, '/v2/destinations', '/v2/connections', '/v2/admin/info', '/v2/me', '/v2/access-tokens']) {
      shown.push(await plane.send('GET', get))
    }
    for (const [method, body] of [
      ['PUT', sent.body],
      ['PATCH', { config: sent.body.destination.config }],
      ['PATCH', { ...sent.body.destination, name: 'Renamed' }],
      ['PATCH', { enabled: false }],
    ] as const) {
      const answer = await plane.send(method, path, { body })
      expect(answer.status).toBe(200)
      expect(answer.headers['x-millrace-warning']).toBeUndefined()
      expect(plane.plane.destinations.get(sent.body.destination.id).config).toEqual(SECRET_CONFIG)
      shown.push(answer)
    }
    shown.push(await plane.send('PATCH', path, { body: { config: { ...SECRET_CONFIG, webhookUrl: 5 } } }))
    for (const { text, headers } of shown) expect(text + JSON.stringify(headers)).not.toContain(CANARY)
    expect(plane.stored()).not.toContain(CANARY)
    await plane.reopen()
    expect(plane.stored()).not.toContain(CANARY)
    expect(plane.logged.join()).not.toContain(CANARY)
    expect(plane.plane.destinations.get(sent.body.destination.id).config).toEqual(SECRET_CONFIG)
  })

  test.each<{ title: string; config: object; saved: object; hasWarning: boolean }>([
    {
      title: 'another host without secrets drops them all and warns',
      config: {
        webhookUrl: 'https://desk:********@elsewhere.example/in',
        signingSecret: '********',
        headers: [
          { from: 'Authorization', to: '********' },
          { from: 'X-Desk', to: '3' },
        ],
      },
      saved: { webhookUrl: 'https://desk@elsewhere.example/in', headers: [{ from: 'X-Desk', to: '3' }] },
      hasWarning: true,
    },
    {
      title: 'another host with everything left out warns as well',
      config: { webhookUrl: 'https://elsewhere.example/in' },
      saved: { webhookUrl: 'https://elsewhere.example/in' },
      hasWarning: true,
    },
    {
      title: 'a secret that is given again stays, the others go',
      config: {
        webhookUrl: 'https://elsewhere.example/in',
        signingSecret: 'a new one for elsewhere',
        headers: [{ from: 'authorization', to: '********' }],
      },
      saved: { webhookUrl: 'https://elsewhere.example/in', signingSecret: 'a new one for elsewhere', headers: [] },
      hasWarning: true,
    },
    {
      title: 'another host with every secret given again keeps these and is silent',
      config: {
        webhookUrl: 'https://desk:fresh@elsewhere.example/in',
        signingSecret: 'fresh',
        headers: [{ from: 'Authorization', to: 'Bearer fresh' }],
      },
      saved: {
        webhookUrl: 'https://desk:fresh@elsewhere.example/in',
        signingSecret: 'fresh',
        headers: [{ from: 'Authorization', to: 'Bearer fresh' }],
      },
      hasWarning: false,
    },
    {
      title: 'another scheme or port is another origin',
      config: { webhookUrl: 'http://hooks.cinema.example/in', signingSecret: '********' },
      saved: { webhookUrl: 'http://hooks.cinema.example/in' },
      hasWarning: true,
    },
    {
      title: 'another path of the same origin keeps them',
      config: { webhookUrl: 'https://HOOKS.cinema.example:443/other', signingSecret: '********' },
      saved: { webhookUrl: 'https://HOOKS.cinema.example:443/other', signingSecret: `${CANARY}-signing` },
      hasWarning: false,
    },
  ])('$title', async ({ config, saved, hasWarning }) => {
    await using plane = await TestPlane.open()
    const { id } = await plane.destination({ config: SECRET_CONFIG })
    const answer = await plane.send('PATCH', `/v2/destinations/${id}`, { body: { config } })
    expect(answer.status).toBe(200)
    expect(plane.plane.destinations.get(id).config).toEqual(saved)
    expect(answer.headers['x-millrace-warning']).toBe(
      hasWarning ? 'The saved secrets were removed because they could reach another host' : undefined,
    )
  })

  const trusting = (...allowedHosts: string[]) => ({ ...SECRET_CONFIG, allowedHosts })
  const TRUST_CASES: { title: string; after: string[]; keeps: boolean }[] = [
    {
      title: 'one more host that may receive the secrets removes them',
      after: ['a.example', 'b.example'],
      keeps: false,
    },
    { title: 'another host in the list removes them', after: ['b.example'], keeps: false },
    { title: 'fewer hosts in the list keep them', after: [], keeps: true },
    { title: 'the same host in other letters keeps them', after: ['A.example'], keeps: true },
  ]
  test.each(TRUST_CASES)('$title, also for an editor', async ({ after, keeps }) => {
    await using plane = await TestPlane.open()
    const { id, config } = await plane.destination({ config: trusting('a.example') })
    const answer = await plane.send('PATCH', `/v2/destinations/${id}`, {
      token: await plane.token('editor'),
      body: { config: { ...(config as object), allowedHosts: after } },
    })
    expect(answer.status).toBe(200)
    expect(plane.plane.destinations.get(id).config).toEqual(
      keeps
        ? trusting(...after)
        : {
            webhookUrl: 'https://desk@hooks.cinema.example/in',
            headers: [{ from: 'X-Desk', to: '3' }],
            allowedHosts: after,
          },
    )
    expect(answer.headers['x-millrace-warning']).toBe(
      keeps ? undefined : 'The saved secrets were removed because they could reach another host',
    )
  })
})

describe('connections', () => {
  test('a connection answers as the contract shows it, and only enabled can change', async () => {
    await using plane = await TestPlane.open()
    const source = await plane.source()
    const destination = await plane.destination()
    const connection = await plane.connection(source.id, destination.id)
    expect(Object.entries(connection)).toEqual([
      ['id', expect.stringMatching(/^[0-9A-Za-z]{27}$/)],
      ['sourceId', source.id],
      ['destinationId', destination.id],
      ['enabled', true],
      ['createdAt', expect.any(String)],
      ['updatedAt', connection['createdAt']],
    ])
    const path = `/v2/connections/${connection.id}`
    expect((await plane.ok('PATCH', path, { enabled: false })).connection.enabled).toBe(false)
    expect((await plane.ok('PATCH', path, {})).connection.enabled).toBe(false)
    expect((await plane.ok('PUT', path, { ...connection, enabled: undefined })).connection.enabled).toBe(true)
    const other = await plane.send('PUT', path, { body: { sourceId: 'other' } })
    expect(other).toMatchObject({ status: 400, body: { error: 'sourceId cannot be changed' } })
  })
})

describe('the snapshot', () => {
  test('is replaced by every change before its answer, and never changed itself', async () => {
    await using plane = await TestPlane.open()
    const heard: number[] = []
    const end = plane.plane.onChange(({ revision }) => heard.push(revision))
    const empty = plane.plane.snapshot()
    const source = await plane.source()
    const destination = await plane.destination()
    const connection = await plane.connection(source.id, destination.id)
    const full = plane.plane.snapshot()
    expect(empty.sources.size).toBe(0)
    expect(full).toMatchObject({ revision: empty.revision + 3 })
    expect(full.sourceByWriteKey(source.writeKey)).toBe(full.sources.get(source.id))
    expect(full.connectionsOf(source.id).map(({ id }) => id)).toEqual([connection.id])

    await plane.ok('PATCH', `/v2/sources/${source.id}`, { enabled: false })
    expect(plane.plane.snapshot().sourceByWriteKey(source.writeKey)?.isEnabled).toBe(false)
    expect(full.sourceByWriteKey(source.writeKey)?.isEnabled).toBe(true)
    await plane.ok('PATCH', `/v2/sources/${source.id}`, { enabled: true })
    expect(plane.plane.snapshot().sourceByWriteKey(source.writeKey)?.isEnabled).toBe(true)
    await plane.ok('PATCH', `/v2/destinations/${destination.id}`, { enabled: false })
    expect(plane.plane.snapshot().destinations.get(destination.id)).toMatchObject({ isEnabled: false, revision: 6 })
    expect(heard).toEqual([1, 2, 3, 4, 5, 6])
    expect(plane.deliveries.heard.at(-1)).toBe('changed 5 to 6')

    end()
    await plane.ok('PATCH', `/v2/destinations/${destination.id}`, { enabled: true })
    expect(heard).toHaveLength(6)
    const before = plane.plane.snapshot()
    await plane.reopen()
    const { sources, destinations, connections, revision } = plane.plane.snapshot()
    expect({ sources, destinations, connections, revision }).toEqual({
      sources: before.sources,
      destinations: before.destinations,
      connections: before.connections,
      revision: 7,
    })
  })
})

describe('deleting', () => {
  test('cascade removes connections, discard ends what waits, and the delivery side hears it before the answer', async () => {
    await using plane = await TestPlane.open()
    const [first, second] = [await plane.source(), await plane.source({ name: 'Second' })]
    const [hook, other] = [await plane.destination(), await plane.destination({ name: 'Other' })]
    const pairs = [
      [first, hook],
      [first, other],
      [second, hook],
      [second, other],
    ] as const
    const connections = []
    for (const [source, destination] of pairs) {
      connections.push((await plane.connection(source.id, destination.id)).id)
    }
    const refused = await plane.send('DELETE', `/v2/destinations/${hook.id}`)
    expect(refused.body.details).toEqual({ connectionIds: [connections[0], connections[2]] })

    plane.deliveries.waitingEvents = 3
    plane.deliveries.heard.length = 0
    const remove = (path: string) => plane.send('DELETE', path)
    expect((await remove(`/v2/destinations/${hook.id}?cascade=true`)).body.error).toBe('Events are waiting')
    expect((await remove(`/v2/destinations/${hook.id}?cascade=true&discard=true`)).status).toBe(204)
    expect((await remove(`/v2/connections/${connections[1]}?discard=true`)).status).toBe(204)
    expect((await remove(`/v2/sources/${second.id}?cascade=true&discard=true`)).status).toBe(204)
    expect(plane.deliveries.heard).toEqual(['changed 8 to 9', 'changed 9 to 10', 'changed 10 to 11'])
    const { sources, destinations, connections: left } = plane.plane.snapshot()
    expect([[...sources.keys()], [...destinations.keys()], [...left.keys()]]).toEqual([[first.id], [other.id], []])
  })
})

describe('common rules', () => {
  test('two editors cannot overwrite each other unseen', async () => {
    await using plane = await TestPlane.open()
    const { id } = await plane.source()
    const path = `/v2/sources/${id}`
    const seen = (await plane.send('GET', path)).headers['etag'] as string
    expect(seen).toMatch(/^"\d+"$/)
    const [one, other] = await Promise.all(
      ['one', 'other'].map((name) => plane.send('PATCH', path, { body: { name }, headers: { 'if-match': seen } })),
    )
    expect([one!.status, other!.status]).toEqual([200, 412])
    expect(plane.plane.sources.get(id).name).toBe('one')
    const now = one!.headers['etag'] as string
    expect(now).not.toBe(seen)
    for (const ifMatch of [`"x", ${now}`, `W/${now}`, '*']) {
      const answer = await plane.send('DELETE', `${path}?x=1`, { headers: { 'if-match': `${ifMatch}` } })
      expect(answer.status).toBe(ifMatch.startsWith('"x"') ? 204 : 404)
    }
  })

  test('paging visits every resource once while others are being created', async () => {
    await using plane = await TestPlane.open()
    // The wall clock stands, or goes back, and the order is still that of creation.
    for (let n = 0; n < 25; n++) {
      await plane.source({ name: `s${n}` })
      if (n === 10) plane.clock.jump(-3_600_000)
    }
    const seen: string[] = []
    let path = '/v2/sources?limit=7'
    while (path !== '') {
      const { sources, paging } = await plane.ok('GET', path)
      for (const { name } of sources) seen.push(name)
      expect(paging.total).toBe(plane.plane.sources.list().length)
      path = paging.next
      if (path !== '') await plane.source({ name: `s${paging.total}` })
    }
    const all = plane.plane.sources.list()
    expect(seen).toEqual(Array.from({ length: all.length }, (_, n) => `s${n}`))
    const ids = all.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    expect((await plane.ok('GET', '/v2/sources?page=99')).sources).toEqual([])
    expect((await plane.ok('GET', '/v2/sources?limit=7&page=2')).paging.next).toBe('/v2/sources?page=3&limit=7')
  })

  test('HEAD answers as GET without a body', async () => {
    await using plane = await TestPlane.open()
    const { id } = await plane.source()
    for (const path of ['/v2/sources', `/v2/sources/${id}`, '/v2/me', '/v2/admin/info', '/v2/access-tokens']) {
      const head = await plane.send('HEAD', path)
      const get = await plane.send('GET', path)
      expect([head.status, head.text]).toEqual([200, ''])
      expect(head.headers['content-length']).toBe(get.headers['content-length'])
      expect(head.headers['etag']).toBe(get.headers['etag'])
    }
    expect((await plane.send('HEAD', '/v2/sources/x')).status).toBe(404)
    expect((await plane.send('HEAD', '/v2/sources', { token: null })).status).toBe(401)
  })

  test.each(['text/plain', 'application/xml', 'nonsense', 'application/json; charset=latin1', undefined])(
    'the content type %s is not looked at',
    async (type) => {
      await using plane = await TestPlane.open()
      const headers = type === undefined ? undefined : { 'content-type': type }
      const body = { name: 'Cinéma', type: 'HTTP' }
      const answer = await plane.send('POST', '/v2/sources', { body, headers })
      expect(answer).toMatchObject({ status: 200, body: { source: { name: 'Cinéma' } } })
    },
  )

  test('bodies may be packed', async () => {
    const { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } = await import('node:zlib')
    await using plane = await TestPlane.open()
    const packed = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, DEFLATE: deflateRawSync }
    for (const [encoding, pack] of Object.entries(packed)) {
      const body = pack(JSON.stringify({ source: { name: encoding, type: 'HTTP' } }))
      const answer = await plane.send('POST', '/v2/sources', { body, headers: { 'content-encoding': encoding } })
      expect(answer.status, encoding).toBe(200)
    }
  })

  test('X-Request-Id is echoed when well formed, else made', async () => {
    await using plane = await TestPlane.open()
    const answered = async (path: string, id: string) =>
      (await plane.send('GET', path, { headers: { 'x-request-id': id } })).headers['x-request-id']
    expect(await answered('/v2/me', 'a.B_9-'.repeat(21))).toBe('a.B_9-'.repeat(21))
    expect(await answered('/v2/nowhere', 'mine')).toBe('mine')
    expect(await answered('/v2/sources/%zz', 'mine')).toBe('mine')
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    for (const bad of ['', 'a b', 'ü', 'x'.repeat(129)]) expect(await answered('/v2/me', bad)).toMatch(uuid)
  })

  test('names have 1 to 200 characters of any kind', async () => {
    await using plane = await TestPlane.open()
    for (const name of ['x', '🎬'.repeat(200), '\u0000', '__proto__']) {
      expect((await plane.source({ name }))['name']).toBe(name)
    }
    expect((await plane.send('POST', '/v2/sources', { body: { name: '🎬'.repeat(201), type: 'HTTP' } })).status).toBe(
      400,
    )
  })

  test('routes of other packages get the same checks and the same error form', async () => {
    await using plane = await TestPlane.open(
      {},
      {
        more: [
          async (app) => {
            app.get('/events/:messageId', async ({ actor, params }) => ({ actor: actor.user.email, params }))
            const config = { audited: 'none' } as const
            app.post('/dead-letters/replay', { config }, async ({ body }, reply) => reply.code(202).send({ body }))
            app.get('/dead-letters', async () => {
              throw new ApiError('conflict', 'Dead letter is resolved', { details: { n: 1 } })
            })
            app.get('/tail', { config: { role: 'admin' } }, async () => {
              throw new Error('out of order')
            })
          },
        ],
      },
    )
    const viewer = await plane.token('viewer')
    expect((await plane.send('GET', '/v2/events/m-88', { token: viewer })).body).toEqual({
      actor: 'owner@localhost',
      params: { messageId: 'm-88' },
    })
    expect((await plane.send('GET', '/v2/events/m-88', { token: null })).status).toBe(401)
    expect((await plane.send('PUT', '/v2/events/m-88')).headers['allow']).toBe('GET, HEAD')
    expect((await plane.send('POST', '/v2/dead-letters/replay', { token: viewer, body: {} })).status).toBe(403)
    expect(await plane.send('POST', '/v2/dead-letters/replay', { body: { ids: [] } })).toMatchObject({
      status: 202,
      body: { body: { ids: [] } },
    })
    expect(await plane.send('GET', '/v2/dead-letters')).toMatchObject({
      status: 409,
      body: { error: 'Dead letter is resolved', code: 'conflict', details: { n: 1 } },
    })
    expect((await plane.send('GET', '/v2/tail', { token: viewer })).status).toBe(403)
    expect((await plane.send('GET', '/v2/tail')).body.error).toBe('Service unavailable')
    expect(plane.logged).toHaveLength(1)
  })

  test('a client that sends too much over a real connection is told so', async () => {
    await using plane = await TestPlane.open()
    const address = await plane.app.listen({ host: '127.0.0.1', port: 0 })
    const { OWNER_TOKEN } = await import('../../testing/test-plane.ts')
    const answer = await fetch(`${address}/v2/sources`, {
      method: 'POST',
      headers: { authorization: `bearer ${OWNER_TOKEN}` },
      body: new Uint8Array(6_000_000),
    })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ code: 'too_large' })
  })

  test('/v2/admin/info and /v2/me answer as the contract shows them', async () => {
    await using plane = await TestPlane.open()
    await plane.source()
    await plane.clock.advance(86_400_000)
    expect((await plane.ok('GET', '/v2/admin/info')).info).toEqual({
      version: '1.0.0',
      uptimeSeconds: 86400,
      revision: 1,
      logBytes: 7,
      logOldestAt: null,
      lastBackup: null,
      deliveryThreads: [],
      refusedSignIns: { count: 0, addresses: 0, lastAt: null },
      settings: { MILLRACE_MAX_EVENT_KB: 32 },
    })
    const { user, token } = await plane.ok('GET', '/v2/me')
    expect(Object.keys(user)).toEqual(['id', 'email', 'role', 'createdAt', 'updatedAt'])
    expect(token).toEqual({ id: expect.any(String), name: 'Owner', role: 'admin' })
  })
})
