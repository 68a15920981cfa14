import { describe, expect, it } from 'vitest'
import { failureOf } from './failure.ts'

describe('failureOf', () => {
  const forms: [form: string, body: string][] = [
    ['error', '{"error":"Still connected","code":"conflict","details":{"connectionIds":["c1"]}}'],
    ['message', '{"message":"Still connected"}'],
    ['msg', '{"msg":"Still connected"}\n'],
    ['plain text', 'Still connected\n'],
  ]
  it.each(forms)('reads the form with %s', (_form, body) => {
    expect(failureOf(409, new Headers(), body)).toMatchObject({ message: 'Still connected', kind: 'refused' })
  })

  it('keeps code, details, request id and the wait that the server asks for', () => {
    const headers = new Headers({ 'X-Request-Id': 'r-1', 'Retry-After': '7' })
    const body = '{"error":"Max Requests Limit reached","code":"rate_limited","details":{"limit":1200}}'
    expect(failureOf(429, headers, body)).toMatchObject({
      kind: 'rate',
      code: 'rate_limited',
      details: { limit: 1200 },
      requestId: 'r-1',
      retryAfterS: 7,
    })
  })

  const kinds: [status: number, body: string, kind: string][] = [
    [400, '{"error":"name is required"}', 'refused'],
    [400, '{"msg":"Basic auth credentials missing"}', 'session'],
    [400, '{"msg":"Invalid admin credentials"}', 'session'],
    [401, '{"message":"Invalid Authorization Header"}', 'session'],
    [403, '{"error":"Forbidden"}', 'role'],
    [404, '{"error":"Source with id x not found"}', 'missing'],
    [412, '{"error":"Resource has changed"}', 'changed'],
    [422, '{"error":"Invalid config"}', 'refused'],
    [500, '', 'server'],
    [503, '<html>Bad gateway</html>', 'server'],
    [507, '{"error":"Not enough space for a backup"}', 'refused'],
  ]
  it.each(kinds)('%i %s is %s', (status, body, kind) => {
    expect(failureOf(status, new Headers(), body).kind).toBe(kind)
  })

  it('has a text when the answer has none', () => {
    expect(failureOf(502, new Headers(), '').message).toBe('Status 502')
    expect(failureOf(502, new Headers(), '{"code":"x"}').message).toBe('Status 502')
  })
})
