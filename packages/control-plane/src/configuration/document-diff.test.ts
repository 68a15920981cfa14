import type { JsonObject } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { documentDiff } from './document-diff.ts'

const open = (plain: JsonObject) => ({ plain, shown: plain })

test('the example of the contract', () => {
  const header = (to: string): JsonObject => ({ headers: [{ from: 'Authorization', to }] })
  const before = {
    plain: { config: header('a'), enabled: false },
    shown: { config: header('********'), enabled: false },
  }
  const after = { plain: { config: header('b'), enabled: true }, shown: { config: header('********'), enabled: true } }
  expect(documentDiff(before, after)).toEqual([
    { path: '/config/headers/0/to', from: '********', to: '********', secretChanged: true },
    { path: '/enabled', from: false, to: true },
  ])
})

test.each<[string, JsonObject, JsonObject, object[]]>([
  ['nothing', { a: 1, b: { c: [1] } }, { a: 1, b: { c: [1] } }, []],
  ['a member that came', {}, { a: 1 }, [{ path: '/a', from: null, to: 1 }]],
  ['a member that went', { a: { b: 1 } }, { a: {} }, [{ path: '/a/b', from: 1, to: null }]],
  ['a list that grew', { a: [1] }, { a: [1, 2] }, [{ path: '/a/1', from: null, to: 2 }]],
  ['another form', { a: [1] }, { a: { b: 1 } }, [{ path: '/a', from: [1], to: { b: 1 } }]],
  ['a name with a slash', { 'a/~': 1 }, { 'a/~': 2 }, [{ path: '/a~1~0', from: 1, to: 2 }]],
  ['a name of every object', {}, { constructor: 1 }, [{ path: '/constructor', from: null, to: 1 }]],
])('%s', (_, before, after, lines) => {
  expect(documentDiff(open(before), open(after))).toEqual(lines)
})

test('a secret is never shown, whether it came, went or stands where nothing is shown', () => {
  const none = open({ config: {} })
  const secret = { plain: { config: { key: 's3cret' } }, shown: { config: { key: '********' } } }
  const hidden = { plain: { config: { key: 's3cret' } }, shown: { config: {} } }
  const line = { path: '/config/key', secretChanged: true }
  expect(documentDiff(none, secret)).toEqual([{ ...line, from: null, to: '********' }])
  expect(documentDiff(secret, none)).toEqual([{ ...line, from: '********', to: null }])
  expect(documentDiff(none, hidden)).toEqual([{ ...line, from: null, to: '********' }])
})
