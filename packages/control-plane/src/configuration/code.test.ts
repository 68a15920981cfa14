import { expect, test } from 'vitest'
import { type Answer, TestPlane } from '../testing/test-plane.ts'

const PASS = 'export function transformEvent(event) { return event }'
const CENTS = 'export const toCents = (price) => price * 100'
const ADD_CENTS = `import { toCents } from "priceRules"\n${PASS} // with cents`

function document(members: object = {}) {
  return {
    millrace: 1,
    libraries: { 'price-rules': { name: 'Price Rules', code: CENTS } },
    transformations: { 'add-cents': { name: 'Add cents', code: ADD_CENTS }, plain: { name: 'Plain', code: PASS } },
    destinations: {
      hook: {
        name: 'Hook',
        type: 'WEBHOOK',
        config: { webhookUrl: 'https://hooks.cinema.example/in' },
        transformations: ['plain', 'add-cents'],
      },
    },
    ...members,
  }
}

test('a document makes libraries, transformations that import them, and attaches these, all in one', async () => {
  await using plane = await TestPlane.open()
  const { changes } = await apply(plane, document())
  expect(changes.map(({ action, kind, key }: Record<string, string>) => `${action} ${kind} ${key}`)).toEqual([
    'create library price-rules',
    'create transformation add-cents',
    'create transformation plain',
    'create destination hook',
  ])
  expect(steps(plane)).toEqual([
    [PASS, []],
    [ADD_CENTS, [CENTS]],
  ])
  await plane.reopen()
  expect(steps(plane)[1]).toEqual([ADD_CENTS, [CENTS]])
  expect((await plan(plane, document(), true)).changes).toEqual([])
  const [version] = (await plane.ok('GET', `/v2/transformations/${idOf(plane, 'plain')}/versions`)).versions
  expect(version).toMatchObject({ createdBy: 'owner@localhost', published: true })
})

test('a changed library takes the transformations of the document along, and the plan says so', async () => {
  await using plane = await TestPlane.open()
  await apply(plane, document())
  const before = published(plane, 'plain')
  const other = document({ libraries: { 'price-rules': { name: 'Price Rules', code: `${CENTS} // 2` } } })
  const { changes } = await apply(plane, other)
  expect(changes).toEqual([
    expect.objectContaining({ action: 'update', kind: 'library', key: 'price-rules' }),
    {
      action: 'update',
      kind: 'transformation',
      key: 'add-cents',
      diff: [{ path: '/libraries/priceRules', from: 'as pinned', to: 'as in this document' }],
    },
  ])
  expect(steps(plane)[1]).toEqual([ADD_CENTS, [`${CENTS} // 2`]])
  expect(published(plane, 'plain')).toBe(before)
  expect((await plan(plane, other)).changes).toEqual([])
})

test('what the document does not name goes on with the libraries that it pins', async () => {
  await using plane = await TestPlane.open()
  await apply(plane, document())
  const libraries = { 'price-rules': { name: 'Price Rules', code: `${CENTS} // 2` } }
  await apply(plane, { millrace: 1, libraries })
  expect(steps(plane)[1]).toEqual([ADD_CENTS, [CENTS]])
})

test('a draft is not part of the document where something is in force, and is marked where nothing is', async () => {
  await using plane = await TestPlane.open()
  await apply(plane, document())
  await plane.ok('PUT', `/v2/transformations/${idOf(plane, 'plain')}`, { name: 'Plain', code: `${PASS} // draft` })
  await plane.ok('POST', '/v2/transformations', { name: 'Draft', code: PASS })
  const { document: pulled } = await plane.ok('GET', '/v2/config')
  expect(pulled.transformations).toMatchObject({ plain: { code: PASS }, draft: { code: PASS, published: false } })
  expect((await plan(plane, pulled, true)).changes).toEqual([])

  // Applied without the mark it is published, the same version.
  const [{ versionId }] = (await plane.ok('GET', `/v2/transformations/${idOf(plane, 'draft')}/versions`)).versions
  await apply(plane, { millrace: 1, transformations: { draft: { name: 'Draft', code: PASS } } })
  expect(published(plane, 'draft')!.versionId).toBe(versionId)
  const back = { millrace: 1, transformations: { draft: { name: 'Draft', code: PASS, published: false } } }
  expect((await plan(plane, back)).errors).toEqual([
    { path: '/transformations/draft/published', message: 'cannot be taken back' },
  ])
})

test('what prune removes may be neither imported nor attached any more, and can be attached anew elsewhere', async () => {
  await using plane = await TestPlane.open()
  await apply(plane, document())
  expect((await plan(plane, document({ libraries: {} }), true)).errors).toEqual([
    { path: '/transformations/add-cents/code', message: 'import from priceRules failed. Module not found.' },
  ])
  const { destinations } = document()
  expect((await plan(plane, { millrace: 1, destinations }, true)).errors).toEqual([
    { path: '/destinations/hook/transformations/0', message: 'Transformation with key plain not found' },
    { path: '/destinations/hook/transformations/1', message: 'Transformation with key add-cents not found' },
  ])
  const bare = { hook: { ...destinations.hook, transformations: [] } }
  const { changes } = await apply(plane, { millrace: 1, destinations: bare }, true)
  expect(changes.map(({ action, kind, key }: Record<string, string>) => `${action} ${kind} ${key}`)).toEqual([
    'delete transformation add-cents',
    'delete transformation plain',
    'delete library price-rules',
    'update destination hook',
  ])
  expect(changes[3].diff).toEqual([{ path: '/transformations', from: ['plain', 'add-cents'], to: null }])
})

test('every fault of code is told with its place', async () => {
  await using plane = await TestPlane.open()
  await apply(plane, document())
  const { hook } = document().destinations
  const faulty = document({
    libraries: {
      a: { name: 'A', code: 'import { b } from "b"\nexport const a = b' },
      b: { name: 'B', code: 'import { a } from "a"\nexport const b = a' },
      broken: { name: 'Broken', code: 'export const = 1' },
      taken: { name: 'price rules', code: CENTS },
      nameless: { name: '!', code: CENTS, language: 'python' },
    },
    transformations: {
      lost: { name: 'Lost', code: `import { x } from "nowhere"\n${PASS}` },
      entry: { name: 'Entry', code: 'export const x = 1', captureLogs: 'yes' },
      tests: { name: 'Tests', code: PASS, tests: [{ id: 't' }] },
      draft: { name: 'Draft', code: PASS, published: false },
      large: { name: 'Large', code: `//${'x'.repeat(256 * 1024)}` },
    },
    destinations: { hook: { ...hook, transformations: ['plain', 'draft', 'plain', 7, ...Array(7).fill('plain')] } },
  })
  const { errors } = await plan(plane, faulty)
  const told = new Map(errors.map(({ path, message }: Record<string, string>) => [path, message]))
  for (const [path, message] of Object.entries({
    '/libraries/taken/name': 'name is already in use',
    '/libraries/nameless/language': 'Unsupported language python',
    '/transformations/lost/code': 'import from nowhere failed. Module not found.',
    '/transformations/entry/captureLogs': 'captureLogs must be a boolean',
    '/transformations/tests/tests': 'name is required',
    '/transformations/large/code': 'Code size exceeds max limit',
    '/destinations/hook/transformations': 'Too many transformations',
    '/destinations/hook/transformations/1': 'Transformation with key draft is not published',
    '/destinations/hook/transformations/2': 'Transformation with key plain is listed twice',
    '/destinations/hook/transformations/3': 'must be a key',
  })) {
    expect.soft(told.get(path), path).toBe(message)
  }
  expect(told.get('/libraries/broken/code')).toMatch(/^SyntaxError: .* \(line 1, column 1\)$/)
  expect(told.has('/libraries/a/code') || told.has('/libraries/b/code')).toBe(true)
})

test('a library that something else imports keeps its import name', async () => {
  await using plane = await TestPlane.open()
  await apply(plane, document())
  const libraries = { 'price-rules': { name: 'Prices', code: CENTS } }
  const inUse = { path: '/libraries/price-rules/name', message: 'Library is in use' }
  expect((await plan(plane, { millrace: 1, libraries })).errors).toEqual([inUse])
  const transformations = {
    'add-cents': { name: 'Add cents', code: ADD_CENTS.replace('priceRules', 'prices') },
    plain: { name: 'Plain', code: PASS },
  }
  await apply(plane, document({ libraries, transformations }))
  expect(steps(plane)[1]).toEqual([transformations['add-cents'].code, [CENTS]])
})

async function plan(plane: TestPlane, document: object, prune = false): Promise<Answer['body']> {
  return plane.ok('POST', '/v2/config/plan', { document, prune })
}

async function apply(plane: TestPlane, document: object, prune = false): Promise<Answer['body']> {
  const { revision } = await plane.ok('GET', '/v2/config')
  return plane.ok('POST', '/v2/config/apply', { document, prune, revision })
}

/** What the one destination runs: code, and code of the libraries. */
function steps(plane: TestPlane): [string, string[]][] {
  const [destination] = plane.plane.snapshot().destinations.values()
  return destination!.transformations.map(({ code, libraries }) => [code, libraries.map((each) => each.code)])
}

function idOf(plane: TestPlane, key: string): string {
  return plane.plane.transformations.list().find((each) => each.key === key)!.id
}

function published(plane: TestPlane, key: string) {
  return plane.plane.transformations.get(idOf(plane, key)).published
}
