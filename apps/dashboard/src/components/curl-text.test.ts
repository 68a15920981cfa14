import { expect, it } from 'vitest'
import { curlText } from './curl-text.ts'

it('a GET carries the very query and the token as a variable', () => {
  expect(curlText('http://127.0.0.1:8080', { path: '/v2/events', query: { name: 'Seat & Row', type: '' } })).toBe(
    `curl 'http://127.0.0.1:8080/v2/events?name=Seat+%26+Row' \\\n  -H "Authorization: Bearer $MILLRACE_TOKEN"`,
  )
})

it.each([
  [100, "'http://h/v2/sources?q=a'"],
  [101, "'http://h/v2/sources?q=a&limit=500'"],
  [1000, "'http://h/v2/sources?q=a&limit=500&page=[1-2]'"],
])('of a list of %i rows every page is asked for', (rows, address) => {
  expect(curlText('http://h', { path: '/v2/sources', query: { q: 'a' }, rows })).toContain(`curl ${address} `)
})

it('a write carries its method and body', () => {
  const text = curlText('http://h', { method: 'PATCH', path: '/v2/sources/s1', body: { name: "Ada's $app" } })
  expect(text).toContain('curl -X PATCH http://h/v2/sources/s1')
  expect(text).toContain(`-d '{"name":"Ada'\\''s $app"}'`)
})
