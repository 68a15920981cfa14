import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Sink } from '@millrace/pipeline/testing/sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClusterUnderTest, connected, event, ok, send } from '../cluster/cluster-under-test.ts'
import type { ServerProcess } from '../e2e/server-process.ts'
import { textOf } from './deployed.ts'

/* The proxy of compose.yaml with its Caddyfile, before two gateways and a control process. Only its own address is another one. */

const PROXY = 'http://127.0.0.1:8971'
/** `gateway` and `control` are names of the network of compose. */
const HOSTS = '127.0.0.1 localhost\n127.89.77.2 gateway\n127.89.77.3 gateway\n127.89.77.4 control\n'

/** As compose.yaml names it; Debian's is older, and does not try a request with a body again. */
const VERSION = /image: caddy:(\S+)/.exec(textOf('compose.yaml'))![1]!

let folder: string
let cluster: ClusterUnderTest
let gateways: ServerProcess[]
let control: ServerProcess
let caddy: ChildProcess
let said = ''
let sink: Sink
beforeAll(async () => {
  const program = await builtCaddy()
  cluster = await ClusterUnderTest.start('proxy')
  const at = (host: string, roles: string) =>
    cluster.add({
      MILLRACE_ROLES: roles,
      MILLRACE_HOST: host,
      MILLRACE_PORT: '8080',
      MILLRACE_EGRESS_ALLOW: '127.0.0.0/8',
    })
  control = await at('127.89.77.4', 'control,pipeline')
  gateways = await Promise.all([at('127.89.77.2', 'gateway'), at('127.89.77.3', 'gateway')])
  sink = await Sink.start()
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-proxy-'))
  const file = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text)
    return path.join(folder, name)
  }
  const config = file('Caddyfile', textOf('deploy/compose/Caddyfile').replace(/^:8080 \{/m, `${PROXY} {`))
  const hosts = file('hosts', HOSTS)
  const run = `mount --bind ${hosts} /etc/hosts && exec ${program} run --adapter caddyfile --config ${config}`
  caddy = spawn('unshare', ['--mount', 'sh', '-c', run], { env: { ...process.env, HOME: folder } })
  for (const stream of [caddy.stdout!, caddy.stderr!]) stream.on('data', (chunk: Buffer) => (said += chunk))
}, 1_200_000)
afterAll(async () => {
  caddy.kill('SIGTERM')
  await cluster[Symbol.asyncDispose]()
  sink.close()
  rmSync(folder, { recursive: true })
})

const proxied = { url: PROXY } as ServerProcess

test('clients reach gateways and people reach the control process through one address', async () => {
  await expect
    .poll(
      () =>
        fetch(`${PROXY}/ready`).then(
          ({ status }) => status,
          () => said,
        ),
      { timeout: 15_000 },
    )
    .toBe(200)
  const { source } = await connected(proxied, sink.url)
  await expect.poll(() => send(proxied, source.writeKey, [event('through')])).toBe(200)
  await expect.poll(() => sink.messageIds).toContain('through')
  const status = async (route: string) => (await fetch(`${PROXY}${route}`)).status
  expect(await status(`/sourceConfig?writeKey=${source.writeKey}`)).not.toBe(404)
  expect(await status('/openapi.json')).toBe(200)
  const { appType } = (await (await fetch(`${PROXY}/health`)).json()) as { appType: string }
  expect(appType).toBe('pipeline+control')
})

test('while one gateway is away the other one gets every request', async () => {
  const { sources } = await ok(control, 'GET', '/sources')
  expect(await gateways[0]!.stop()).toBe(0)
  const statuses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => send(proxied, sources[0].writeKey, [event(`alone-${n}`)])),
  )
  expect(new Set(statuses), said).toEqual(new Set([200]))
})

/** Built once, from the module proxy of Go: minutes. */
async function builtCaddy(): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache')
  const bin = path.join(cache, 'millrace', `caddy-${VERSION}`)
  const program = path.join(bin, 'caddy')
  if (existsSync(program)) return program
  const env = { ...process.env, GOBIN: bin }
  await promisify(execFile)('go', ['install', `github.com/caddyserver/caddy/v2/cmd/caddy@v${VERSION}`], { env })
  return program
}
