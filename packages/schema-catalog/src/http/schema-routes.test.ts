import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { SchemaRoutes } from './schema-routes.ts'

test('a list of many pages that is read slowly leaves no listeners behind', async () => {
  const pages = 30
  const text = Buffer.from(`"${'x'.repeat(300_000)}"`)
  let asked = 0
  const ask = async () => ({ count: 1, bytes: text, after: ++asked < pages ? [1, asked] : undefined })
  const routes = new SchemaRoutes({
    catalog: { ask, status: () => Promise.reject(new Error('not asked')) } as never,
    checkCredentials: async () => 'good',
    sourceOfKey: () => undefined,
    onError: (error) => expect.fail(error.message),
  })
  let most = 0
  const count = (response: ServerResponse) => {
    most = Math.max(most, response.listenerCount('close') + response.listenerCount('error'))
  }
  const server = createServer((request, response) => {
    response.on('drain', () => count(response))
    routes.handle(request, response)
  }).listen(0)
  await once(server, 'listening')
  const [answer] = await once(
    get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/schemas/event-models`),
    'response',
  )
  let bytes = 0
  for await (const chunk of answer) bytes += chunk.length
  expect(bytes).toBe(pages * (text.length + 1) + 1)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(10)
  server.close()
})
