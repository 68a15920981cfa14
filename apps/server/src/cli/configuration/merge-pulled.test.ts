import type { JsonObject } from '@millrace/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseConfigFile } from './config-file.ts'
import { mergedFileText, newFileText } from './merge-pulled.ts'
import { filled } from './placeholders.ts'

const HOOK: JsonObject = {
  name: 'Booking hook',
  config: {
    webhookUrl: 'https://ada:********@hooks.cinema.example/in',
    headers: [
      { from: 'Authorization', to: '********' },
      { from: 'X-Desk', to: '3' },
    ],
  },
}

const FILE = `# Who to ask: the booking desk.
millrace: 1

destinations:
    booking-hook: # the important one
        name: "Booking hook"
        config:
            # The host differs between staging and production.
            webhookUrl: https://ada:\${HOOK_PASSWORD}@\${HOOK_HOST}/in
            headers:
                - {to: "Bearer \${BOOKING_TOKEN}", from: Authorization} # rotated in May
                - {from: X-Desk, to: '3'}
connections:
    - {source: web, destination: booking-hook}
    # The app came later.
    - {source: app, destination: booking-hook}
`

const pulled = (hook: JsonObject = HOOK): JsonObject => ({
  millrace: 1,
  destinations: { 'booking-hook': hook },
  connections: [
    { source: 'app', destination: 'booking-hook' },
    { source: 'web', destination: 'booking-hook' },
  ],
})

const merge = (text: string, document: JsonObject, env = {}) =>
  mergedFileText(parseConfigFile('millrace.yaml', text), document, env)

describe('pulling over a file', () => {
  test('that says what the server has leaves it as it is, to the byte, with and without its variables', () => {
    expect(merge(FILE, pulled())).toBe(FILE)
    const env = { HOOK_PASSWORD: 'p4ss', HOOK_HOST: 'hooks.cinema.example', BOOKING_TOKEN: 'canary' }
    expect(merge(FILE, pulled(), env)).toBe(FILE)
  })

  test('changes what is another, and keeps comments, order, style and placeholders of the rest', () => {
    const document = pulled({
      ...HOOK,
      name: 'Booking desk',
      enabled: false,
      config: {
        ...(HOOK['config'] as JsonObject),
        headers: [
          { from: 'X-Desk', to: '4' },
          { from: 'authorization', to: '********' },
        ],
      },
    })
    Object.assign(document, { connections: [{ source: 'app', destination: 'booking-hook' }], sources: {} })
    expect(merge(FILE, document)).toBe(`# Who to ask: the booking desk.
millrace: 1

destinations:
    booking-hook:
        # the important one
        name: "Booking desk"
        config:
            # The host differs between staging and production.
            webhookUrl: https://ada:\${HOOK_PASSWORD}@\${HOOK_HOST}/in
            headers:
                - {from: X-Desk, to: '4'}
                - {to: "Bearer \${BOOKING_TOKEN}", from: authorization} # rotated in May
        enabled: false
connections:
    # The app came later.
    - {source: app, destination: booking-hook}
sources: {}
`)
  })

  test('takes what the server has where a variable that is set says something else', () => {
    expect(merge(FILE, pulled(), { HOOK_HOST: 'staging.cinema.example' })).toContain(
      'webhookUrl: https://ada:********@hooks.cinema.example/in\n',
    )
  })

  test('does not keep a secret that was written out', () => {
    const text = FILE.replace(/Bearer [^"]+/, 'Bearer canary-7Hq2')
    expect(merge(text, pulled())).toContain('- {to: "********", from: Authorization} # rotated in May')
  })

  test('keeps aliases that still fit', () => {
    const text = 'destinations:\n  a: &all\n    name: one # first\n  b: *all\n'
    expect(merge(text, { destinations: { a: { name: 'two' }, b: { name: 'two' } } })).toBe(
      'destinations:\n  a: &all\n    name: two # first\n  b: *all\n',
    )
  })

  test('writes out an alias that does not fit any more', () => {
    const text = 'destinations:\n  a: &all\n    name: one # first\n  b: *all\n'
    const document = { destinations: { a: { name: 'one' }, b: { name: 'two' } } }
    expect(merge(text, document)).toBe('destinations:\n  a: &all\n    name: one # first\n  b:\n    name: two\n')
    expect(() => merge(text, { destinations: { b: { name: 'one' } } })).toThrow(/has anchors/)
  })

  test('a text that looks like a placeholder is none', () => {
    const document = { note: `\${HOME} $\${HOME} \${not one}`, list: [`\${A}`] }
    const text = newFileText(document)
    expect(text).toContain(`note: $\${HOME} $$\${HOME} \${not one}\n`)
    expect(filled(parseConfigFile('f', text).document, { HOME: 'x', A: 'y' })).toEqual({ document, missing: [] })
    expect(merge(text, document, { HOME: 'x' })).toBe(text)
  })
})

const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ' ', '\n', '#', ':', '-', '"', "'", '*', '&') }),
  fc.constantFrom('null', 'true', '1', '~', '2026-01-01', '********', `\${A}`, ''),
)
const json = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  object: fc.dictionary(texts, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    texts,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.record({ from: texts, to: texts }), { maxLength: 4 }),
    fc.uniqueArray(fc.record({ source: texts, destination: texts, enabled: fc.boolean() }), {
      maxLength: 4,
      selector: ({ source, destination }) => `${source}/${destination}`,
    }),
    tie('object'),
  ),
})).object

test('whatever a file said, after pulling it says what the server has, and pulling again changes nothing', () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const document = after as JsonObject
      const text = merge(newFileText(before as JsonObject), document)
      expect(inOrder(filled(parseConfigFile('f', text).document, {}).document)).toEqual(inOrder(document))
      expect(merge(text, document)).toBe(text)
    }),
    { numRuns: 300, examples: [[{ '': false }, { '': ':\n$' }]] },
  )
})

/** Of connections the order says nothing. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(inOrder)
    const isSet =
      items.length > 0 && items.every((item) => typeof item === 'object' && item !== null && 'source' in item)
    return isSet ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, item]) => [name, inOrder(item)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}
