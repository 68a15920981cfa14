// Runs inside the image: starts the server, has an event shaped by user code and delivered, and stops the server.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const say = (line: string) => process.stdout.write(`${line}\n`)
const token = 'image-owner-0123456789-0123456789'
const environment = {
  ...process.env,
  MILLRACE_OWNER_TOKEN: token,
  MILLRACE_EGRESS_ALLOW: '127.0.0.1',
  MILLRACE_MIN_FREE_DISK_MB: '0',
  MILLRACE_URL: 'http://127.0.0.1:8080',
  MILLRACE_TOKEN: token,
}

try {
  writeFileSync('/written', '')
} catch (error) {
  say(`root: ${(error as NodeJS.ErrnoException).code}`)
}
say(`user: ${process.getuid!()}`)

const server = spawn('millrace', ['start'], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] })
const exited = new Promise((resolve) => server.once('exit', resolve))
const isReady = () => spawnSync('node', ['/millrace/bin/is-ready.mjs'], { env: environment }).status === 0
while (!isReady()) if (server.exitCode !== null) process.exit(1)
say('healthy: yes')

const received = Promise.withResolvers<string>()
const hook = createServer((request, response) => {
  request.on('data', (chunk) => received.resolve(JSON.parse(chunk).properties.shaped))
  request.on('end', () => response.end())
})
await once(hook.listen(9_000, '127.0.0.1'), 'listening')

const { source } = await post('/v2/sources', { name: 'App', type: 'HTTP' })
const code = 'export function transformEvent(event) { event.properties = { shaped: "yes" }; return event }'
const { transformation } = await post('/v2/transformations?publish=true', { name: 'Shape', code })
const config = { webhookUrl: 'http://127.0.0.1:9000/hook' }
const { destination } = await post('/v2/destinations', {
  name: 'Hook',
  type: 'WEBHOOK',
  config,
  transformationIds: [transformation.id],
})
await post('/v2/connections', { sourceId: source.id, destinationId: destination.id })
await post('/v1/track', { userId: 'u', event: 'Seen' }, `Basic ${btoa(`${source.writeKey}:`)}`)
say(`delivered, shaped by user code: ${await received.promise}`)

const { stderr } = spawnSync('millrace', ['trace'], { env: environment, encoding: 'utf8' })
say(`hint: ${stderr.split('\n')[1]}`)

hook.close()
server.kill('SIGTERM')
say(`exit code: ${await exited}`)

async function post(path: string, body: object, authorization = `Bearer ${token}`) {
  const init = {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const answer = await fetch(`http://127.0.0.1:8080${path}`, init)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return text.startsWith('{') ? JSON.parse(text) : text
}
