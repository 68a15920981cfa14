import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startChild } from './child-command.ts'

test('a child has no file, no network, no process, no thread and no environment', async () => {
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const probe = fileURLToPath(import.meta.resolve('./child-probe.ts'))
  const child = startChild(String(port), probe)
  const told = JSON.parse(await text(child.stdout)) as { outcomes: [string, string][]; environment: string[] }
  server.close()
  expect(told.outcomes.length).toBe(9)
  expect(told.outcomes.filter(([, outcome]) => outcome !== 'ERR_ACCESS_DENIED')).toEqual([])
  expect(told.environment).toEqual([])
})
