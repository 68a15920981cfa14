import type { JsonObject } from '@millrace/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BatchParts, batchParts, textOf } from '../testing/json-texts.ts'
import { BatchText, partOfParsed } from './batch-text.ts'

// fast-check prints the seed of a run that fails.

const batchAndChoice = batchParts().chain((parts) =>
  fc.tuple(fc.constant(parts), fc.subarray([...parts.elements.keys()], { minLength: 1 })),
)

/** The members that are copied, in their order. */
const copiedOf = ({ members }: BatchParts) => members.filter(({ name }) => name !== 'batch' && name !== 'writeKey')

test('a part of a batch has the members of the envelope, and its events byte for byte', () => {
  fc.assert(
    fc.property(batchAndChoice, ([parts, indexes]) => {
      const body = Buffer.from(textOf(parts))
      const text = new BatchText(body, 'batch')
      const written = text.write(indexes)
      expect(text.size(indexes)).toBe(written.length)
      const part = written.toString()
      const whole: JsonObject = JSON.parse(body.toString())
      const { batch, writeKey: _, ...envelope } = whole
      const expected = { ...envelope, batch: indexes.map((index) => (batch as JsonObject[])[index]!) }
      expect(JSON.stringify(JSON.parse(part))).toBe(JSON.stringify(expected))
      let at = 0
      for (const { text: member } of copiedOf(parts)) {
        const found = part.indexOf(member, at)
        expect(found).toBeGreaterThanOrEqual(at)
        at = found + member.length
      }
      expect(part.slice(at)).toContain(`"batch":[${indexes.map((index) => parts.elements[index]).join(',')}]}`)
      expect(partOfParsed(whole, 'batch', indexes)).toEqual(JSON.parse(part))
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['{"batch":[{"a":1},{"b":"]}"}]}', [1], '{"batch":[{"b":"]}"}]}'],
  [' { "batch" : [ 1 , "x" , null ] , "n" : 1.5e3 } ', [0, 2], '{"n" : 1.5e3,"batch":[1,null]}'],
  ['{"a":1,"batch":[[],{}],"b":{"batch":[7]},"writeKey":"k"}', [0], '{"a":1,"b":{"batch":[7]},"batch":[[]]}'],
  ['{"batch":[1],"a":"\\\\","b\\u0061tch":[2,3],"c":"\\""}', [1], '{"a":"\\\\","c":"\\"","batch":[3]}'],
  ['{"x\\\\":"]","\\\\\\"batch":[1],"batch":[2]}', [0], '{"x\\\\":"]","\\\\\\"batch":[1],"batch":[2]}'],
  ['{"batch":{"batch":[9]},"__proto__":{"x":1},"batch":[1]}', [0], '{"__proto__":{"x":1},"batch":[1]}'],
  ['{"w\\u0072iteKey":{"a":"}"},"batch":[true,false]}', [1], '{"batch":[false]}'],
])('of %s the events %j are %s', (whole, indexes, part) => {
  expect(new BatchText(Buffer.from(whole), 'batch').write(indexes).toString()).toBe(part)
})
