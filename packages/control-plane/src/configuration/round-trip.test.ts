import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SOURCE_TYPES } from '../resources/source.ts'
import { TestPlane } from '../testing/test-plane.ts'

const MASK = '********'
const secret = fc.stringMatching(/^[a-z]{16,24}$/)
const key = fc.oneof(fc.stringMatching(/^[a-z0-9-]{1,12}$/), fc.constantFrom('constructor', '7', '-', 'x'.repeat(64)))
const name = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).filter((text) => text.trim() !== '')

const rule = fc.record(
  {
    action: fc.constant('allow'),
    types: fc.constant(['track', 'page']),
    events: fc.record({
      match: fc.constantFrom('exact', 'prefix', 'pattern'),
      names: fc.array(fc.stringMatching(/^[a-z*]{1,5}$/), { minLength: 1, maxLength: 3 }),
    }),
    conditions: fc.constantFrom(
      [{ path: 'userId', operator: 'exists' }],
      [{ path: 'properties.a', operator: 'at_least', value: 1.5 }],
      [{ path: 'properties.a', operator: 'in', value: ['x', 2, false] }],
    ),
  },
  { requiredKeys: ['action', 'events'] },
)
/** None, or rules and consent. */
const rules = fc.option(
  fc.record({ otherwise: fc.constantFrom('allow', 'deny'), list: fc.array(rule, { minLength: 1, maxLength: 3 }) }),
  { nil: undefined },
)
const consent = fc.record({
  categories: fc.uniqueArray(fc.stringMatching(/^\S{1,5}$/), { minLength: 1, maxLength: 3 }),
  require: fc.constantFrom('all', 'any'),
})

const source = fc.record({
  name,
  enabled: fc.boolean(),
  config: fc.record(
    {
      rateLimitEventsPerMinute: fc.nat(1_000_000_000),
      dedupWindowSeconds: fc.constant(0),
      orderShards: fc.integer({ min: 1, max: 64 }),
      catalog: fc.record({ samples: fc.constantFrom('full', 'masked', 'off'), values: fc.constantFrom('on', 'off') }),
      withoutConsent: fc.constant('hold_back'),
    },
    { requiredKeys: ['rateLimitEventsPerMinute', 'dedupWindowSeconds', 'orderShards', 'catalog'] },
  ),
})

const destinationMembers = {
  name,
  type: fc.constant('WEBHOOK'),
  enabled: fc.boolean(),
  config: fc.record(
    {
      webhookUrl: fc.tuple(secret, fc.domain()).map(([password, host]) => `https://ada:${password}@${host}/in`),
      signingSecret: secret,
      headers: fc.tuple(secret, fc.string()).map(([token, desk]) => [
        { from: 'Authorization', to: token },
        { from: 'X-Desk', to: desk },
      ]),
      note: fc.jsonValue(),
    },
    { requiredKeys: ['webhookUrl'] },
  ),
  delivery: fc.record({
    concurrency: fc.integer({ min: 1, max: 1_000 }),
    ordering: fc.constantFrom('strict', 'none'),
    throttle: fc.option(
      fc.record({ limit: fc.integer({ min: 1, max: 1_000_000 }), windowSeconds: fc.integer({ min: 1, max: 86_400 }) }),
    ),
    onTransformationError: fc.constantFrom('dead_letter', 'pass_through'),
  }),
  consent,
}
const { consent: _, ...needed } = destinationMembers
const destination = fc.record(destinationMembers, { requiredKeys: Object.keys(needed) as (keyof typeof needed)[] })

const library = fc.record({ description: fc.string({ maxLength: 5 }), n: fc.nat(3), isImporting: fc.boolean() })
const transformation = fc.record({ captureLogs: fc.boolean(), n: fc.nat(3), imports: fc.subarray(['one', 'two']) })

/** Two libraries, of which the second may import the first, and transformations that import what there is of them. */
const code = fc
  .record({
    libraries: fc.dictionary(fc.constantFrom('one', 'two'), library, { noNullPrototype: true }),
    transformations: fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), transformation, {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  })
  .map(({ libraries, transformations }) => {
    const libraryEntries = Object.entries(libraries).map(([name, { description, n, isImporting }]) => {
      const isLinked = isImporting && name === 'two' && 'one' in libraries
      const members = { name, language: 'javascript', code: `${isLinked ? IMPORT('one') : ''}export const n = ${n}` }
      return [name, description === '' ? members : { ...members, description }]
    })
    const entries = Object.entries(transformations).map(([name, { captureLogs, n, imports }]) => {
      const lines = imports.filter((each) => each in libraries).map(IMPORT)
      const text = `${lines.join('')}export function transformEvent(event) { return event } // ${n}`
      const tests = [{ id: 't', name: 'n', input: [{ n }], expectedOutput: [] }]
      const members = { name, language: 'javascript', code: text, tests }
      return [name, captureLogs ? { ...members, captureLogs } : members]
    })
    return { libraries: Object.fromEntries(libraryEntries), transformations: Object.fromEntries(entries) }
  })

function IMPORT(name: string): string {
  return `import { n as ${name} } from "${name}"\n`
}

const workspace = fc
  .record({
    code,
    attached: fc.array(fc.nat(3), { maxLength: 6 }),
    sources: fc.dictionary(key, source, { maxKeys: 5, noNullPrototype: true }),
    destinations: fc.dictionary(key, destination, { maxKeys: 5, noNullPrototype: true }),
    pairs: fc.uniqueArray(fc.tuple(fc.nat(4), fc.nat(4), fc.boolean(), rules), { selector: ([a, b]) => `${a} ${b}` }),
  })
  .map(({ code, attached, sources, destinations: plain, pairs }) => {
    const destinations = withTransformations(plain, Object.keys(code.transformations), attached)
    const [from, to] = [Object.keys(sources), Object.keys(destinations)]
    const connections = pairs.flatMap(([a, b, enabled, rules]) => {
      const settings = rules === undefined ? { enabled } : { enabled, rules }
      return from[a] === undefined || to[b] === undefined ? [] : [{ source: from[a], destination: to[b], ...settings }]
    })
    // Type and write key go by the key, so that one document can follow another.
    const withKeys = Object.entries(sources).map(([each, members]) => {
      const type = SOURCE_TYPES[each.length % SOURCE_TYPES.length]!
      return [each, { ...members, type, writeKey: each.replaceAll('-', 'Z').padEnd(20, 'Q') }]
    })
    const sections = { sources: Object.fromEntries(withKeys), ...code, destinations, connections }
    return { millrace: 1, ...withoutEmpty(sections) }
  })

/** Each destination has up to two, in any order. */
function withTransformations(plain: Document, keys: readonly string[], attached: readonly number[]): Document {
  const entries = Object.entries<Document>(plain).map(([each, members], i) => {
    const transformations = new Set(attached.slice(2 * i, 2 * i + 2).flatMap((n) => keys[n] ?? []))
    return [each, transformations.size === 0 ? members : { ...members, transformations: [...transformations] }]
  })
  return Object.fromEntries(entries)
}

/** Who uses no code need not read of it. */
function withoutEmpty({ libraries, transformations, ...rest }: Document): Document {
  return {
    ...rest,
    ...(Object.keys(libraries).length === 0 ? {} : { libraries }),
    ...(Object.keys(transformations).length === 0 ? {} : { transformations }),
  }
}

test('pull into an empty server, apply, pull gives the same document; pull then plan shows no change', async () => {
  await fc.assert(
    fc.asyncProperty(workspace, workspace, async (first, second) => {
      await using one = await TestPlane.open()
      // From whatever there was before.
      await apply(one, second)
      await apply(one, first)
      const pulled = await one.ok('GET', '/v2/config')
      expect(inOrder(withSecretsOf(first, pulled.document))).toEqual(inOrder(JSON.parse(JSON.stringify(first))))
      expect(await one.ok('POST', '/v2/config/plan', { document: pulled.document, prune: true })).toEqual({
        revision: pulled.revision,
        changes: [],
        errors: [],
      })

      await using other = await TestPlane.open()
      await apply(other, withSecretsOf(first, pulled.document))
      const again = await other.send('GET', '/v2/config')
      expect(again.text.slice(again.text.indexOf('"document"'))).toBe(
        JSON.stringify(pulled).slice(JSON.stringify(pulled).indexOf('"document"')),
      )
    }),
    { numRuns: 8, endOnFailure: true },
  )
})

// biome-ignore lint/suspicious/noExplicitAny: a document of any content
type Document = any

async function apply(plane: TestPlane, document: Document): Promise<void> {
  const { revision } = await plane.ok('GET', '/v2/config')
  await plane.ok('POST', '/v2/config/apply', { document, prune: true, revision })
  // What is sealed is what was sent: nothing that came back as a mask was stored as one.
  expect(JSON.stringify([...plane.plane.snapshot().destinations.values()])).not.toContain(MASK)
}

/** Connections are a set: the document of the server has them in an order of its own. */
function inOrder(document: Document): Document {
  return {
    ...document,
    connections: document.connections
      .map((each: object) => JSON.stringify(each, ['source', 'destination', 'enabled']))
      .sort(),
  }
}

/** The secrets in the places of the masks, as whoever applies a pulled document elsewhere fills them in. */
function withSecretsOf(original: Document, document: Document): Document {
  const copy = structuredClone(document)
  for (const [each, { config }] of Object.entries<Document>(copy.destinations)) {
    const given = original.destinations[each].config
    config.webhookUrl = config.webhookUrl.replace(
      `:${MASK}@`,
      () => `:${/:([a-z]{16,24})@/.exec(given.webhookUrl)![1]}@`,
    )
    if (config.signingSecret === MASK) config.signingSecret = given.signingSecret
    if (config.headers?.[0].to === MASK) config.headers[0].to = given.headers[0].to
  }
  return copy
}
