import { DevEnv } from '@millrace/dev-env'
import { expect, test } from 'vitest'
import { sendRaw } from '../e2e/raw-http.ts'

/* What never becomes a whole request is answered 408 after half a minute (contracts/ingest.md §6 [D144]). */

test('a header or a body that does not end, while others are served', async () => {
  await using env = await DevEnv.open()
  const { writeKey } = await env.source()
  const authorization = `Authorization: Basic ${Buffer.from(`${writeKey}:`).toString('base64')}\r\n`
  const body = `POST /v1/track HTTP/1.1\r\nHost: x\r\n${authorization}Content-Length: 100\r\n\r\n{"userId"`
  const slow = Promise.all([sendRaw(env.url, body), sendRaw(env.url, 'GET /ready HTTP/1.1\r\nHost: x\r\nX-Long: ')])
  const served = await env.send('/v1/track', { userId: 'u' }, writeKey)
  expect(served.status).toBe(200)
  for (const answer of await slow)
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*\r\n\r\nRequest timeout$/s)
})
