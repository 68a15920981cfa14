import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { Sink } from '@millrace/pipeline/testing/sink'
import { expect, test } from 'vitest'
import { MAIN } from '../e2e/server-process.ts'

/** The command in a process group of its own, as a terminal starts it. */
class Demo implements Disposable {
  readonly process: ChildProcess
  said = ''

  constructor() {
    const env = { ...process.env, MILLRACE_DASHBOARD: 'off' }
    this.process = spawn(process.execPath, [MAIN, 'cluster-demo'], { env, detached: true })
    for (const stream of [this.process.stdout!, this.process.stderr!]) {
      stream.on('data', (chunk: Buffer) => (this.said += chunk))
    }
  }

  async says(text: string): Promise<void> {
    await expect.poll(() => this.said, { timeout: 120_000 }).toContain(text)
  }

  /** As Ctrl-C in a terminal: every process of the group gets the signal. @returns the exit code. */
  async pressControlC(): Promise<number | null> {
    const exited = once(this.process, 'close')
    process.kill(-this.process.pid!, 'SIGINT')
    const [code] = await exited
    return code
  }

  [Symbol.dispose](): void {
    this.process.kill('SIGKILL')
  }
}

test('the printed addresses accept an event, deliver it and trace it; Ctrl-C stops every process', async () => {
  using demo = new Demo()
  await demo.says('Ctrl-C stops everything')
  const { said } = demo
  const sink = await Sink.start()
  const [, writeKey, gateway] = /curl -u (\S+): (\S+)\/v1\/track/.exec(said)!
  const settings = settingsIn(/export \$\(cat (\S+)\)/.exec(said)![1]!)
  const { MILLRACE_URL: control, MILLRACE_TOKEN: token } = settings
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
  // Its proxy: events go to gateways, all other requests to the control process.
  expect(gateway).toBe(control)
  for (const [n, url] of [...gateways, gateway!].entries()) {
    const send = () =>
      fetch(`${url}/v1/track`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` },
        body: JSON.stringify({ userId: 'u', event: 'Hello', messageId: `hello-${n}` }),
      })
    await expect.poll(async () => (await send()).status).toBe(200)
  }
  await expect.poll(() => new Set(sink.messageIds)).toEqual(new Set(['hello-0', 'hello-1', 'hello-2']))
  await expect.poll(() => demo.said).toContain('arrived  track Hello (hello-2)')
  const outcome = async () => (await api('GET', '/events/hello-1')).events?.[0]?.destinations[0]?.outcome
  await expect.poll(outcome).toBe('delivered')

  const models = async () => {
    const answer = await fetch(`${control}/schemas/event-models`, { headers: { authorization: `Bearer ${token}` } })
    return (await answer.json()) as { EventIdentifier: string; TotalCount: number }[]
  }
  await expect.poll(models).toMatchObject([{ EventIdentifier: 'Hello', TotalCount: 3 }])

  const processes = [...said.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => pid!)
  expect(processes).toHaveLength(6)
  expect(processes.every(isAlive)).toBe(true)

  const millrace = (...words: string[]) =>
    promisify(execFile)(process.execPath, [MAIN, ...words], { env: { ...process.env, ...settings } })
  expect((await millrace('trace', 'hello-1')).stdout).toContain('200 delivered')
  expect((await millrace('doctor')).stdout).toContain(
    `127.0.0.1:${settings['MILLRACE_PORT']} the server runs and is healthy`,
  )

  const { length } = demo.said
  expect(await demo.pressControlC()).toBe(0)
  expect(processes.filter(isAlive)).toEqual([])
  // No process ended before it was asked to, as one does that Ctrl-C reaches directly.
  const order = ['catalog', 'pipeline 2', 'pipeline 1', 'gateway 2', 'gateway 1', 'control']
  expect(demo.said.slice(length)).toBe(`\nEverything stops\n${order.map((name) => `${name} stops\n`).join('')}`)
  sink.close()
})

test('Ctrl-C during the start stops what has started', async () => {
  using demo = new Demo()
  await demo.says('gateway 1 starts')
  expect(await demo.pressControlC()).toBe(0)
  expect(demo.said).not.toContain('The cluster runs')
  expect(demo.said).toMatch(/\nEverything stops\n(gateway 2 stops\n)?gateway 1 stops\ncontrol stops\n$/)
})

/** Lines `name=value`. */
function settingsIn(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

function isAlive(pid: string): boolean {
  return existsSync(`/proc/${pid}`)
}
