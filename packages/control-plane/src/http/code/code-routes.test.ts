import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { moduleRuntime } from '../../testing/module-runtime.ts'
import { type Answer, OWNER_TOKEN, TestPlane } from '../../testing/test-plane.ts'

const NO_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const PASS = 'export function transformEvent(event) { return event }'
const CENTS = 'export const toCents = (price) => Math.round(price * 100)'
const ADD_CENTS = `import { toCents } from "priceRules"
export function transformEvent(event) {
  return { ...event, cents: toCents(event.price) }
}`

describe('a transformation', () => {
  test('is answered with the members of the contract, and nothing else', async () => {
    await using plane = await TestPlane.open()
    await library(plane, 'Price Rules', CENTS)
    const written = { name: 'Add cents', description: 'price in cents', language: 'javascript', code: ADD_CENTS }
    const { transformation } = await plane.ok('POST', '/v2/transformations?publish=true', written)
    expect(transformation).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{27}$/),
      versionId: expect.stringMatching(/^[0-9A-Za-z]{27}$/),
      publishedVersionId: transformation.versionId,
      ...written,
      imports: ['priceRules'],
      destinations: [],
      captureLogs: false,
      workspaceId: plane.plane.workspaceId,
      createdAt: expect.stringMatching(/^2026-02-27T/),
      updatedAt: transformation.createdAt,
    })
    expect(await plane.ok('GET', '/v2/transformations')).toEqual({
      transformations: [transformation],
      paging: { total: 1, next: '' },
    })
  })

  test('is a draft until it is published; other code makes another draft', async () => {
    await using plane = await TestPlane.open()
    const draft = await transformation(plane, PASS, false)
    expect(draft).toMatchObject({ publishedVersionId: null, description: '', language: 'javascript' })
    const { transformation: published } = await plane.ok('POST', publishPath(draft.id, draft.versionId))
    expect(published).toMatchObject({ versionId: draft.versionId, publishedVersionId: draft.versionId })
    const { transformation: second } = await plane.ok('PUT', `/v2/transformations/${draft.id}`, {
      name: 'Renamed',
      code: `${PASS} // 2`,
    })
    expect(second).toMatchObject({ name: 'Renamed', publishedVersionId: draft.versionId })
    expect(second.versionId).not.toBe(draft.versionId)
    const { versions } = await plane.ok('GET', `/v2/transformations/${draft.id}/versions`)
    const createdAt = expect.any(String)
    expect(versions).toEqual([
      { versionId: draft.versionId, createdAt, createdBy: 'owner@localhost', published: true },
      { versionId: second.versionId, createdAt, createdBy: 'owner@localhost', published: false },
    ])
  })

  test('that is written back as it was read stays the same version', async () => {
    await using plane = await TestPlane.open()
    const before = await transformation(plane, PASS)
    const { transformation: after } = await plane.ok('PUT', `/v2/transformations/${before.id}`, before)
    expect({ ...after, updatedAt: before.updatedAt }).toEqual(before)
    expect((await plane.ok('GET', `/v2/transformations/${before.id}/versions`)).versions).toHaveLength(1)
  })

  test('is guarded by its ETag against being overwritten unseen', async () => {
    await using plane = await TestPlane.open()
    const { id, versionId } = await transformation(plane, PASS)
    const path = `/v2/transformations/${id}`
    const old = (await plane.send('GET', path)).headers['etag'] as string
    await plane.ok('PUT', path, { name: 'Renamed', code: PASS })
    const headers = { 'if-match': old }
    for (const [method, where, body] of [
      ['PUT', path, { name: 'n', code: PASS }],
      ['PUT', `${path}/tests`, { tests: [] }],
      ['POST', publishPath(id, versionId), undefined],
      ['DELETE', path, undefined],
    ] as const) {
      const refused = await plane.send(method, where, { body, headers })
      expect(refused, `${method} ${where}`).toMatchObject({ status: 412, body: { error: 'Resource has changed' } })
    }
    const now = (await plane.send('GET', `${path}/tests`)).headers['etag'] as string
    expect((await plane.send('DELETE', path, { headers: { 'if-match': now } })).status).toBe(204)
  })

  test('that was removed is gone, and its versions stay readable, as those of a transformation only', async () => {
    await using plane = await TestPlane.open()
    const { id, versionId } = await transformation(plane, PASS)
    const path = `/v2/transformations/${id}`
    expect((await plane.send('DELETE', path)).status).toBe(204)
    await plane.reopen()
    for (const method of ['GET', 'DELETE']) {
      expect((await plane.send(method, path)).body.error).toBe(`Transformation with id ${id} not found`)
    }
    const { version } = await plane.ok('GET', `${path}/versions/${versionId}`)
    expect(version).toMatchObject({ versionId, published: false, code: PASS, language: 'javascript', imports: [] })
    for (const other of [`/v2/libraries/${id}/versions`, `/v2/libraries/${id}/versions/${versionId}`]) {
      expect((await plane.send('GET', other)).status).toBe(404)
    }
  })

  test('attached to destinations cannot be removed', async () => {
    await using plane = await TestPlane.open()
    const { id } = await transformation(plane, PASS)
    const destinationIds = [
      (await plane.destination({ transformationIds: [id] })).id,
      (await plane.destination({ transformationIds: [id] })).id,
    ]
    const refused = await plane.send('DELETE', `/v2/transformations/${id}`)
    const body = { error: 'Transformation is attached', code: 'conflict', details: { destinationIds } }
    expect(refused).toMatchObject({ status: 409, body })
    expect((await plane.ok('GET', `/v2/transformations/${id}`)).transformation.destinations).toEqual(destinationIds)
    for (const each of destinationIds) await plane.ok('PATCH', `/v2/destinations/${each}`, { transformationIds: [] })
    expect((await plane.send('DELETE', `/v2/transformations/${id}`)).status).toBe(204)
  })
})

describe('what a destination runs', () => {
  test('is the published code of its list, in its order, also after a restart', async () => {
    await using plane = await TestPlane.open()
    const [a, b] = [await transformation(plane, `${PASS} // a`), await transformation(plane, `${PASS} // b`)]
    const { id } = await plane.destination({ transformationIds: [b.id, a.id] })
    const code = () => running(plane, id).map((step) => step.code.slice(-1))
    expect(code()).toEqual(['b', 'a'])
    await plane.reopen()
    expect(code()).toEqual(['b', 'a'])
    expect((await plane.ok('GET', `/v2/destinations/${id}`)).destination.transformationIds).toEqual([b.id, a.id])
    await plane.ok('PATCH', `/v2/destinations/${id}`, { transformationIds: [a.id] })
    expect(code()).toEqual(['a'])
    await plane.ok('PATCH', `/v2/destinations/${id}`, { name: 'Renamed' })
    expect(code()).toEqual(['a'])
    await plane.ok('PUT', `/v2/destinations/${id}`, {
      name: 'Hook',
      config: { webhookUrl: 'https://hooks.cinema.example/in' },
    })
    expect(code()).toEqual([])
  })

  test('is neither a draft nor the same code twice', async () => {
    await using plane = await TestPlane.open()
    const [draft, { id }] = [await transformation(plane, PASS, false), await transformation(plane, PASS)]
    const destination = await plane.destination({ transformationIds: [id] })
    for (const [transformationIds, error] of [
      [[draft.id], `Transformation with id ${draft.id} is not published`],
      [[id, id], `Transformation with id ${id} is listed twice`],
    ]) {
      const refused = await plane.send('PATCH', `/v2/destinations/${destination.id}`, { body: { transformationIds } })
      expect(refused).toMatchObject({ status: 422, body: { error, code: 'invalid_config', details: null } })
    }
    expect(running(plane, destination.id)).toHaveLength(1)
  })

  test('is not changed by a draft, but at once by publishing, and by publishing an older version again', async () => {
    await using plane = await TestPlane.open()
    const first = await transformation(plane, `${PASS} // 1`)
    const { id } = await plane.destination({ transformationIds: [first.id] })
    const heard: string[] = []
    plane.plane.onChange(({ destinations }) => heard.push(destinations.get(id)!.transformations[0]!.code.slice(-1)))
    const write = (code: string, publish: boolean) =>
      plane.ok('PUT', `/v2/transformations/${first.id}?publish=${publish}`, { name: 'T', code })
    await write(`${PASS} // 2`, false)
    await write(`${PASS} // 3`, true)
    const { transformation: back } = await plane.ok('POST', publishPath(first.id, first.versionId))
    expect(back).toMatchObject({ publishedVersionId: first.versionId, code: `${PASS} // 3` })
    expect(heard).toEqual(['1', '3', '1'])
    await plane.reopen()
    expect(running(plane, id)[0]!.versionId).toBe(first.versionId)
  })

  test('pins libraries until it is published again, which makes a version of its own', async () => {
    await using plane = await TestPlane.open()
    const rules = await library(plane, 'Price Rules', `${CENTS} // 1`)
    const { id, versionId } = await transformation(plane, ADD_CENTS)
    const destination = await plane.destination({ transformationIds: [id] })
    const pinned = () => running(plane, destination.id)[0]!.libraries.map(({ code }) => code.slice(-1))
    await plane.ok('PUT', `/v2/libraries/${rules.id}?publish=true`, { name: 'Price Rules', code: `${CENTS} // 2` })
    await plane.reopen()
    expect(pinned()).toEqual(['1'])

    const { transformation: again } = await plane.ok('POST', publishPath(id, versionId))
    expect(pinned()).toEqual(['2'])
    expect(again.publishedVersionId).not.toBe(versionId)
    expect(again.versionId).toBe(again.publishedVersionId)
    expect((await plane.ok('GET', `/v2/transformations/${id}/versions`)).versions).toHaveLength(2)
    // Nothing is new, so nothing is made.
    const { transformation: thrice } = await plane.ok('POST', publishPath(id, again.versionId))
    expect(thrice.publishedVersionId).toBe(again.versionId)
    // The way back leads to exactly what ran.
    const { transformation: back } = await plane.ok('POST', publishPath(id, versionId))
    expect([back.publishedVersionId, pinned()]).toEqual([versionId, ['1']])
    await plane.reopen()
    expect(pinned()).toEqual(['1'])
  })

  test('that was published again keeps a newer draft as what is edited', async () => {
    await using plane = await TestPlane.open()
    const rules = await library(plane, 'Price Rules', CENTS)
    const { id, versionId } = await transformation(plane, ADD_CENTS)
    const { transformation: draft } = await plane.ok('PUT', `/v2/transformations/${id}`, { name: 'T', code: PASS })
    await plane.ok('PUT', `/v2/libraries/${rules.id}?publish=true`, { name: 'Price Rules', code: `${CENTS} // 2` })
    const { transformation: again } = await plane.ok('POST', publishPath(id, versionId))
    expect(again).toMatchObject({ versionId: draft.versionId, code: PASS })
    expect(again.publishedVersionId).not.toBe(versionId)
  })

  test('cannot lose what it takes from a library: such a publication is refused', async () => {
    await using plane = await TestPlane.open()
    const rules = await library(plane, 'Price Rules', CENTS)
    const { id, versionId } = await transformation(plane, ADD_CENTS)
    await plane.ok('PUT', `/v2/libraries/${rules.id}?publish=true`, {
      name: 'Price Rules',
      code: 'export const toEuros = 1',
    })
    const refused = await plane.send('POST', publishPath(id, versionId))
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining("'toCents'")])
    expect((await plane.ok('GET', `/v2/transformations/${id}`)).transformation.publishedVersionId).toBe(versionId)
  })
})

describe('a library', () => {
  test('is answered with its import name and who uses it', async () => {
    await using plane = await TestPlane.open()
    const rules = await library(plane, 'Price Rules', CENTS)
    await library(plane, 'Rounding', 'import { toCents } from "priceRules"\nexport const round = toCents')
    const direct = await transformation(plane, ADD_CENTS)
    const draft = await transformation(
      plane,
      'import { round } from "rounding"\nexport function transformEvent(e) { return round(e) }',
      false,
    )
    const { library: shown } = await plane.ok('GET', `/v2/libraries/${rules.id}`)
    expect(shown).toEqual({ ...rules, usedBy: [direct.id, draft.id] })
    expect(shown).toMatchObject({ importName: 'priceRules', imports: [], code: CENTS })
    expect(shown).not.toHaveProperty('captureLogs')
  })

  test.each([
    ['Price Rules', 'priceRules'],
    ['price-rules 2', 'priceRules2'],
    ['  URL of HTTP ', 'uRLOfHTTP'],
    ['größe über', 'größeÜber'],
    ['x', 'x'],
  ])('named %j is imported as %s', async (name, importName) => {
    await using plane = await TestPlane.open()
    expect((await library(plane, name, CENTS)).importName).toBe(importName)
  })

  test('whose name becomes one that is taken is refused', async () => {
    await using plane = await TestPlane.open()
    await library(plane, 'Price Rules', CENTS, false)
    const other = await library(plane, 'Other', CENTS)
    const taken = { status: 409, body: { error: 'name is already in use', details: { importName: 'priceRules' } } }
    const body = { name: 'price_rules', code: CENTS }
    expect(await plane.send('POST', '/v2/libraries', { body })).toMatchObject(taken)
    expect(await plane.send('PUT', `/v2/libraries/${other.id}`, { body })).toMatchObject(taken)
  })

  test('that closes a cycle is refused at save and at publishing', async () => {
    await using plane = await TestPlane.open()
    const a = await library(plane, 'A', CENTS)
    await library(plane, 'B', 'import { toCents } from "a"\nexport const b = toCents')
    const body = { name: 'A', code: 'import { b } from "b"\nexport const a = b' }
    const refused = await plane.send('PUT', `/v2/libraries/${a.id}`, { body })
    expect(refused.status).toBe(400)
    const own = { name: 'C', code: 'import { c } from "c"\nexport const d = c' }
    expect((await plane.send('POST', '/v2/libraries', { body: own })).status).toBe(400)
  })

  test('that was saved before a cycle was possible is refused when it is published', async () => {
    await using plane = await TestPlane.open()
    const b = await library(plane, 'B', 'export const b = 1')
    const a = await library(plane, 'A', 'import { b } from "b"\nexport const a = b', false)
    await plane.ok('POST', `/v2/libraries/${a.id}/versions/${a.versionId}/publish`)
    await plane.ok('PUT', `/v2/libraries/${a.id}?publish=true`, { name: 'A', code: 'export const a = 1' })
    await plane.ok('PUT', `/v2/libraries/${b.id}?publish=true`, {
      name: 'B',
      code: 'import { a } from "a"\nexport const b = a',
    })
    const refused = await plane.send('POST', `/v2/libraries/${a.id}/versions/${a.versionId}/publish`)
    const error = 'libraries import each other in a cycle: a → b → a'
    expect(refused).toMatchObject({ status: 400, body: { error } })
  })

  test('in use can be neither removed nor imported by another name', async () => {
    await using plane = await TestPlane.open()
    const rules = await library(plane, 'Price Rules', CENTS)
    const user = await transformation(plane, ADD_CENTS)
    const importing = await library(plane, 'Rounding', 'import { toCents } from "priceRules"\nexport const r = toCents')
    const details = { transformationIds: [user.id], libraryIds: [importing.id] }
    const inUse = { status: 409, body: { error: 'Library is in use', code: 'conflict', details } }
    const path = `/v2/libraries/${rules.id}`
    expect(await plane.send('DELETE', path)).toMatchObject(inUse)
    expect(await plane.send('PUT', path, { body: { name: 'Prices', code: CENTS } })).toMatchObject(inUse)
    await plane.ok('PUT', path, { name: 'Price  rules', code: CENTS })
    await plane.send('DELETE', `/v2/libraries/${importing.id}`)
    await plane.send('DELETE', `/v2/transformations/${user.id}`)
    expect((await plane.send('DELETE', path)).status).toBe(204)
  })

  test('can be imported once it is published', async () => {
    await using plane = await TestPlane.open()
    const rules = await library(plane, 'Price Rules', CENTS, false)
    const body = { name: 'T', code: ADD_CENTS }
    const refused = { status: 400, body: { error: 'import from priceRules failed. Module not found.' } }
    expect(await plane.send('POST', '/v2/transformations', { body })).toMatchObject(refused)
    await plane.ok('POST', `/v2/libraries/${rules.id}/versions/${rules.versionId}/publish`)
    expect((await plane.send('POST', '/v2/transformations', { body })).status).toBe(200)
  })
})

describe('tests', () => {
  const TEST = {
    id: 't1',
    name: 'cents',
    input: [{ type: 'track', price: 18.5 }],
    expectedOutput: [{ cents: 1850, price: 18.5, type: 'track' }],
  }

  test('of a transformation are stored, and run over its newest version, another one or other code', async () => {
    await using plane = await TestPlane.open()
    await library(plane, 'Price Rules', CENTS)
    const { id, versionId } = await transformation(plane, ADD_CENTS)
    const path = `/v2/transformations/${id}/tests`
    expect(await plane.ok('GET', path)).toEqual({ tests: [] })
    expect(await plane.ok('PUT', path, { tests: [TEST] })).toEqual({ tests: [TEST] })
    await plane.reopen()
    expect(await plane.ok('GET', path)).toEqual({ tests: [TEST] })

    const passed = { id: 't1', name: 'cents', status: 'pass', actualOutput: TEST.expectedOutput, errors: [] }
    expect(await plane.ok('POST', `${path}/run`)).toEqual({ pass: true, results: [passed] })
    await plane.ok('PUT', `/v2/transformations/${id}`, { name: 'T', code: PASS })
    const failed = { ...passed, status: 'fail', actualOutput: TEST.input }
    expect(await plane.ok('POST', `${path}/run`)).toEqual({ pass: false, results: [failed] })
    expect((await plane.ok('POST', `${path}/run`, { versionId })).pass).toBe(true)
    const code = 'export function transformEvent() { throw new RangeError("price below zero") }'
    const broken = { ...passed, status: 'error', actualOutput: [], errors: ['RangeError: price below zero'] }
    expect(await plane.ok('POST', `${path}/run`, { code })).toEqual({ pass: false, results: [broken] })
  })

  test('may use a version of a library that is not published', async () => {
    await using plane = await TestPlane.open()
    const rules = await library(plane, 'Price Rules', CENTS)
    const { id } = await transformation(plane, ADD_CENTS)
    const { library: draft } = await plane.ok('PUT', `/v2/libraries/${rules.id}`, {
      name: 'Price Rules',
      code: 'export const toCents = () => "draft"',
    })
    const cents = async (members: object) =>
      (await plane.ok('POST', '/v2/transformations/test', { events: [{ price: 1 }], ...members })).transformedEvents[0]
        .event.cents
    for (const code of [{ code: ADD_CENTS }, { transformationId: id }]) {
      expect(await cents(code)).toBe(100)
      expect(await cents({ ...code, libraryVersionIDs: [draft.versionId] })).toBe('draft')
    }
  })

  test('take what metadata(event) gives', async () => {
    await using plane = await TestPlane.open()
    const code = 'export const transformEvent = (event, metadata) => ({ told: metadata(event) })'
    const run = { code, events: [{ price: 1 }] }
    const told = async (more: object) =>
      (await plane.ok('POST', '/v2/transformations/test', { ...run, ...more })).transformedEvents[0].event.told
    const { workspaceId } = await told({})
    expect(await told({ metadata: { sourceName: 'Shop' } })).toEqual({ workspaceId, sourceName: 'Shop' })
    expect(await told({ metadata: { workspaceId: 'w' } })).toEqual({ workspaceId: 'w' })
    for (const metadata of ['Shop', [], 1]) {
      const { status, body } = await plane.send('POST', '/v2/transformations/test', { body: { ...run, metadata } })
      expect([status, body.error]).toEqual([400, 'metadata must be an object'])
    }
  })

  test('of a version in force run with the libraries that it pins, those of another with what is published', async () => {
    await using plane = await TestPlane.open()
    const rules = await library(plane, 'Price Rules', CENTS)
    const { id } = await transformation(plane, ADD_CENTS)
    await plane.ok('PUT', `/v2/libraries/${rules.id}?publish=true`, {
      name: 'Price Rules',
      code: 'export const toCents = () => "new"',
    })
    const run = async (members: object) =>
      (await plane.ok('POST', '/v2/transformations/test', { events: [{ price: 1 }], ...members })).transformedEvents[0]
        .event.cents
    expect(await run({ transformationId: id })).toBe(100)
    expect(await run({ code: ADD_CENTS })).toBe('new')
    await plane.ok('PUT', `/v2/transformations/${id}`, { name: 'T', code: `${ADD_CENTS} // draft` })
    expect(await run({ transformationId: id })).toBe('new')
  })
})

test('lists have pages, and the audit log an entry for every write', async () => {
  await using plane = await TestPlane.open()
  const first = await transformation(plane, PASS, false)
  await transformation(plane, PASS, false)
  const page = await plane.ok('GET', '/v2/transformations?limit=1')
  expect(page).toMatchObject({
    transformations: [first],
    paging: { total: 2, next: '/v2/transformations?page=2&limit=1' },
  })
  const path = `/v2/transformations/${first.id}`
  await plane.ok('PUT', path, { name: 'Renamed', code: PASS, captureLogs: true })
  await plane.ok('POST', publishPath(first.id, first.versionId))
  await plane.ok('PUT', `${path}/tests`, {
    tests: [{ id: 't', name: 'n', input: [{}], expectedOutput: [] }],
  })
  await plane.send('POST', publishPath(first.id, NO_ID))
  await plane.send('DELETE', path)
  const viewer = await plane.token('viewer')
  await plane.send('POST', '/v2/transformations/test', { token: viewer, body: {} })
  const { entries } = await plane.ok('GET', '/v2/audit-log?kind=transformation')
  const told = entries.map(
    ({ action, outcome, diff }: { action: string; outcome: string; diff: { path: string }[] }) => [
      action,
      outcome,
      diff.map((line) => line.path),
    ],
  )
  expect(told.reverse()).toEqual([
    ['create', 'ok', []],
    ['create', 'ok', []],
    ['update', 'ok', ['/name', '/captureLogs']],
    ['publish', 'ok', ['/publishedVersionId']],
    ['update', 'ok', ['/tests/0']],
    ['publish', 'not_found', []],
    ['delete', 'ok', []],
  ])
})

test('lines of live runs are shown newest first, the last 1,000 of them', async () => {
  await using plane = await TestPlane.open()
  const { id } = await transformation(plane, PASS)
  const path = `/v2/transformations/${id}/logs`
  expect(await plane.ok('GET', path)).toEqual({ logs: [] })
  const line = (n: number) => ({ at: n, destinationId: NO_ID, messageId: `m-${n}`, line: `Log: ${n}` })
  for (let n = 0; n < 1_500; n += 3) plane.plane.logLines.add(id, [line(n), line(n + 1), line(n + 2)])
  const { logs } = await plane.ok('GET', path)
  expect(logs).toHaveLength(1_000)
  expect(logs[0]).toEqual({
    at: '1970-01-01T00:00:01.499Z',
    destinationId: NO_ID,
    messageId: 'm-1499',
    line: 'Log: 1499',
  })
  expect(logs.at(-1).messageId).toBe('m-500')
  expect((await plane.send('GET', `/v2/transformations/${NO_ID}/logs`)).status).toBe(404)
})

test('a fault of the server during a test run answers 503 and is logged', async () => {
  const run = () => Promise.reject(new Error('broken'))
  await using plane = await TestPlane.open({ code: { ...moduleRuntime, run } })
  const url = await plane.app.listen({ host: '127.0.0.1', port: 0 })
  const { status } = await fetch(`${url}/v2/transformations/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OWNER_TOKEN}` },
    body: JSON.stringify({ code: PASS, events: [{}] }),
  })
  const line = 'a request failed {"method":"POST","route":"/v2/transformations/test","err":{}}'
  expect([status, plane.logged]).toEqual([503, [line]])
})

describe('the code of a test run is told to end', () => {
  const body = { code: PASS, events: [{}] }
  /** A plane whose test runs end only when their signal is aborted. */
  const endless = async () => {
    const started = Promise.withResolvers<AbortSignal>()
    const run: typeof moduleRuntime.run = async ({ signal }) => {
      started.resolve(signal)
      await once(signal, 'abort')
      return { results: [{ error: 'Timed out' }], logs: [], usedCredentials: [] }
    }
    return { plane: await TestPlane.open({ code: { ...moduleRuntime, run } }), started: started.promise }
  }

  test('after 60 s', async () => {
    const { plane, started } = await endless()
    await using _ = plane
    const answer = plane.ok('POST', '/v2/transformations/test', body)
    const signal = await started
    await plane.clock.advance(59_999)
    expect(signal.aborted).toBe(false)
    await plane.clock.advance(1)
    expect(await answer).toEqual({ transformedEvents: [{ input: 0, error: 'Timed out' }], logs: [] })
  })

  test('when the caller goes away', async () => {
    const { plane, started } = await endless()
    await using _ = plane
    const url = await plane.app.listen({ host: '127.0.0.1', port: 0 })
    const caller = new AbortController()
    const answer = fetch(`${url}/v2/transformations/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OWNER_TOKEN}` },
      body: JSON.stringify(body),
      signal: caller.signal,
    })
    const signal = await started
    caller.abort()
    await expect(answer).rejects.toThrow()
    if (!signal.aborted) await once(signal, 'abort')
  })
})

async function transformation(plane: TestPlane, code: string, publish = true): Promise<Answer['body']> {
  const body = { name: 'T', code }
  return (await plane.ok('POST', `/v2/transformations?publish=${publish}`, body)).transformation
}

async function library(plane: TestPlane, name: string, code: string, publish = true): Promise<Answer['body']> {
  return (await plane.ok('POST', `/v2/libraries?publish=${publish}`, { name, code })).library
}

function publishPath(id: string, versionId: string): string {
  return `/v2/transformations/${id}/versions/${versionId}/publish`
}

function running(plane: TestPlane, destinationId: string) {
  return plane.plane.snapshot().destinations.get(destinationId)!.transformations
}
