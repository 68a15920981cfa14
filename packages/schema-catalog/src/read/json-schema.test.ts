import { expect, test } from 'vitest'
import type { TypedKey } from '../observe/typed-keys.ts'
import { jsonSchemaOf } from './json-schema.ts'

test('keys of more than 50 segments are left out, and a model that has no others', () => {
  const deep = (segments: number): TypedKey => [`properties.${new Array(segments).fill('a').join('.')}`, 'string']
  const schema = jsonSchemaOf('track', 'E', [deep(51), deep(50), ['properties.hall', 'string']])!
  expect(schema.split('"properties":{"a"')).toHaveLength(1 + 50)
  expect(schema).toContain('"hall":{"type":["string"]}')
  expect(jsonSchemaOf('track', 'E', [deep(51)])).toBeUndefined()
})

test('a model of 2,000 nested keys gives no more than 20,000 schemas', () => {
  const keys = Array.from({ length: 2_000 }, (_, i): TypedKey => [`properties.${i}x${'.a'.repeat(49)}`, 'string'])
  const schema = jsonSchemaOf('track', 'E', keys)!
  expect(schema.match(/"type":/g)!.length).toBeLessThanOrEqual(1 + 20_000)
  expect(schema).toContain('"399x"')
  expect(schema).not.toContain('"400x"')
})
