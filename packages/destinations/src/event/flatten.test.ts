import type { JsonObject, JsonValue } from '@millrace/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { flatten } from './flatten.ts'

test('paths go by dots and indexes, leaves keep their kind', () => {
  const value = { a: { b: [1, { c: null }, []] }, d: {}, e: true, f: 'x' }
  expect(flatten(value)).toStrictEqual({ 'a.b[0]': 1, 'a.b[1].c': null, 'a.b[2]': [], d: {}, e: true, f: 'x' })
})

test('a member called __proto__ is a member like others', () => {
  const flat = flatten(JSON.parse('{"__proto__":7,"a":{"__proto__":{"b":1}}}') as JsonObject)
  expect(Object.entries(flat)).toEqual([
    ['__proto__', 7],
    ['a.__proto__.b', 1],
  ])
})

test('any object can be put together again from its flat form', () => {
  const name = fc.stringMatching(/^[a-z_]{1,6}$/)
  const { object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  }))
  fc.assert(
    fc.property(object, (value) => {
      expect(unflatten(flatten(value))).toStrictEqual(value)
    }),
  )
})

function unflatten(flat: JsonObject): JsonObject {
  const root: JsonObject = {}
  for (const [path, leaf] of Object.entries(flat)) {
    const steps = path.match(/[^.[\]]+/g)!
    const isIndex = path.match(/[^.[\]]+\]?/g)!.map((step) => step.endsWith(']'))
    let holder = root as Record<string, JsonValue>
    steps.forEach((step, i) => {
      if (i === steps.length - 1) holder[step] = leaf
      else holder[step] ??= isIndex[i + 1] ? [] : {}
      holder = holder[step] as Record<string, JsonValue>
    })
  }
  return root
}
