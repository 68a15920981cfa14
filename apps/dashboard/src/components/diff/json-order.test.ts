import type { JsonObject } from '@millrace/protocol/json'
import { expect, it } from 'vitest'
import { orderedLike } from './json-order.ts'

it('members take the order of the other value, and none is lost', () => {
  const before: JsonObject = { b: 1, a: { y: 1, x: 2 }, list: [{ q: 1, p: 2 }] }
  const after: JsonObject = { new: true, list: [{ p: 2, q: 3 }, { z: 1 }], a: { x: 2, y: 1 }, b: 1 }
  const ordered = orderedLike(after, before)
  expect(ordered).toEqual(after)
  expect(JSON.stringify(ordered)).toBe('{"b":1,"a":{"y":1,"x":2},"list":[{"q":3,"p":2},{"z":1}],"new":true}')
})
