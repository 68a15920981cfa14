import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Sink } from '@millrace/pipeline/testing/sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAIN } from '../e2e/server-process.ts'

let demo: ChildProcess
let said = ''
beforeAll(() => {
  demo = spawn(process.execPath, [MAIN, 'cluster-demo'], { env: { ...process.env, MILLRACE_DASHBOARD: 'off' } })
  for (const stream of [demo.stdout!, demo.stderr!]) stream.on('data', (chunk: Buffer) => (said += chunk))
})
afterAll(() => {
  demo.kill('SIGKILL')
})

test('the printed addresses accept an event, deliver it and trace it; Ctrl-C stops every process', async () => {
  await expect.poll(() => said, { timeout: 120_000 }).toContain('Ctrl-C stops everything')
  const sink = await Sink.start()
  const [, writeKey, gateway] = /curl -u (\S+): (\S+)\/v1\/track/.exec(said)!
  const [, control, token] = /--url (\S+) --token (\S+)/.exec(said)!
  const api = async (method: string, route: string, body?: object) => {
    const answer = await fetch(`${control}/v2${route}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: each call knows its answer
    return (await answer.json()) as any
  }
  const [source] = (await api('GET', '/sources')).sources
  const webhook = { name: 'Hook', type: 'WEBHOOK', config: { webhookUrl: sink.url } }
  const { destination } = await api('POST', '/destinations', webhook)
  await api('POST', '/connections', { sourceId: source.id, destinationId: destination.id })

  // The other gateway follows within a second.
  const gateways = [...said.matchAll(/gateway \d +(http\S+)/g)].map(([, url]) => url!)
  expect(gateways).toHaveLength(2)
  expect(gateways).toContain(gateway)
  for (const [n, url] of gateways.entries()) {
    const send = () =>
      fetch(`${url}/v1/track`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` },
        body: JSON.stringify({ userId: 'u', event: 'Hello', messageId: `hello-${n}` }),
      })
    await expect.poll(async () => (await send()).status).toBe(200)
  }
  await expect.poll(() => new Set(sink.messageIds)).toEqual(new Set(['hello-0', 'hello-1']))
  const outcome = async () => (await api('GET', '/events/hello-1')).events?.[0]?.destinations[0]?.outcome
  await expect.poll(outcome).toBe('delivered')

  const models = async () => {
    const answer = await fetch(`${control}/schemas/event-models`, { headers: { authorization: `Bearer ${token}` } })
    return (await answer.json()) as { EventIdentifier: string; TotalCount: number }[]
  }
  await expect.poll(models).toMatchObject([{ EventIdentifier: 'Hello', TotalCount: 2 }])

  const processes = [...said.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => pid!)
  expect(processes).toHaveLength(6)
  expect(processes.every(isAlive)).toBe(true)
  demo.kill('SIGINT')
  const [code] = await once(demo, 'exit')
  expect(code).toBe(0)
  expect(processes.filter(isAlive)).toEqual([])
  sink.close()
})

function isAlive(pid: string): boolean {
  return existsSync(`/proc/${pid}`)
}
