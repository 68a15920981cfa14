import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type Environment, MAIN, PLAIN, ServerProcess } from './server-process.ts'

/** Of a cluster only: contracts/cluster.md [K1]. */
const CLUSTER_ONLY = [
  /\/packages\/postgres\//,
  /\/node_modules\/pg(-[^/]+)?\//,
  /postgres-(control-store|dialect)\.ts$/,
  /\/store\/postgres\//,
  /\/packages\/log\/src\/kafka\//,
  /\/@platformatic\/kafka\//,
  /\/packages\/pipeline\/src\/cluster\//,
  /\/packages\/schema-catalog\/src\/cluster\//,
  /\/apps\/server\/src\/cluster\//,
]

/** What only the main thread uses. */
const NOT_IN_DELIVERY = [
  /\/packages\/(control-plane|gateway|openapi)\/(?!src\/resources\/source\.ts)/,
  /\/node_modules\/(kysely|ajv|fastify|@sinclair|typebox)\//,
  /\/transformations\/src\/host\/(?!payload\.ts)/,
  /\/destinations\/src\/types\/(?!webhook\/)/,
]

/** All that is loaded before a command runs. */
const FOR_EVERY_COMMAND = [
  /\/apps\/server\/src\/(cli|config)\//,
  /\/apps\/server\/src\/(main|version)\.ts$/,
  /\/packages\/(protocol|std|wording)\//,
  /\/packages\/delivery\/src\/outbound\/egress-list\.ts$/,
  /\/node_modules\/(commander|ipaddr\.js)\//,
]

test('the command line starts without the modules of the server', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-modules-'))
  const loaded = join(folder.path, 'modules')
  const env = { ...process.env, ...recording(loaded) }
  await promisify(execFile)(process.execPath, [MAIN, '--help'], { env })
  const own = readFileSync(loaded, 'utf8')
    .split('\n')
    .filter((line) => line.includes(' file:') && !line.endsWith('/module-recorder.ts'))
  expect(own.filter((url) => !FOR_EVERY_COMMAND.some((pattern) => pattern.test(url)))).toEqual([])
  expect(own.some((url) => url.endsWith('/cli/commands.ts'))).toBe(true)
})

test('a delivery thread loads what it delivers with: of the destination types, the configured ones', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-modules-'))
  const loaded = join(folder.path, 'modules')
  await using server = await ServerProcess.start({
    ...recording(loaded),
    MILLRACE_DATA_DIR: join(folder.path, 'data'),
    MILLRACE_DELIVERY_THREADS: '2',
  })
  const headers = { authorization: `Bearer ${PLAIN['MILLRACE_OWNER_TOKEN']}` }
  const config = { webhookUrl: 'http://127.0.0.1:9/hook' }
  const body = JSON.stringify({ name: 'Hook', type: 'WEBHOOK', config })
  const { status } = await fetch(`${server.url}/v2/destinations`, { method: 'POST', headers, body })
  expect(status).toBe(200)
  const modules = readFileSync(loaded, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('delivery-1 '))
  expect(modules.filter((url) => NOT_IN_DELIVERY.some((pattern) => pattern.test(url)))).toEqual([])
  expect(modules.some((url) => url.endsWith('/types/webhook/webhook.ts'))).toBe(true)
})

test('an embedded server loads no module of a cluster, at its start and while it accepts and configures', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-modules-'))
  const loaded = join(folder.path, 'modules')
  await using server = await ServerProcess.start({
    ...recording(loaded),
    MILLRACE_DATA_DIR: join(folder.path, 'data'),
  })
  const headers = { authorization: `Bearer ${PLAIN['MILLRACE_OWNER_TOKEN']}` }
  const body = JSON.stringify({ name: 'Cinema', type: 'HTTP' })
  const answer = await fetch(`${server.url}/v2/sources`, { method: 'POST', headers, body })
  const { source } = (await answer.json()) as { source: { writeKey: string } }
  const event = JSON.stringify({ userId: 'u', event: 'Seat Booked' })
  const basic = { authorization: `Basic ${Buffer.from(`${source.writeKey}:`).toString('base64')}` }
  const { status } = await fetch(`${server.url}/v1/track`, { method: 'POST', headers: basic, body: event })
  expect(status).toBe(200)
  const modules = readFileSync(loaded, 'utf8').split('\n')
  expect(modules.filter((url) => CLUSTER_ONLY.some((pattern) => pattern.test(url)))).toEqual([])
  // It records what is loaded.
  expect(modules.some((url) => url.endsWith('/sqlite-control-store.ts'))).toBe(true)
})

test('neither the command line nor a server loads the fetch of Node', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-modules-'))
  const [ofHelp, ofServer] = [join(folder.path, 'help'), join(folder.path, 'server')]
  await promisify(execFile)(process.execPath, [MAIN, '--help'], { env: { ...process.env, ...recording(ofHelp) } })
  const started = { ...recording(ofServer), MILLRACE_DATA_DIR: join(folder.path, 'data') }
  await using server = await ServerProcess.start(started)
  expect(await server.stop()).toBe(0)
  for (const loaded of [ofHelp, ofServer]) {
    const modules = readFileSync(loaded, 'utf8').split('\n')
    expect(modules.filter((line) => line.endsWith(' NativeModule internal/deps/undici/undici'))).toEqual([])
    // It records what is loaded.
    expect(modules.some((line) => line.endsWith(' NativeModule internal/modules/run_main'))).toBe(true)
  }
})

/** Writes to a file which modules the server loads. */
function recording(loaded: string): Environment {
  const recorder = pathToFileURL(join(import.meta.dirname, './module-recorder.ts')).href
  return { ...PLAIN, NODE_OPTIONS: `--import ${recorder}`, MODULES_LOADED: loaded }
}
