import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientOf } from '../e2e/client.ts'
import { ServerProcess } from '../e2e/server-process.ts'
import { ShownOutput } from './shown-output.ts'

const ROOT = path.dirname(path.dirname(import.meta.dirname))
const PAGE = path.join(ROOT, 'docs/cli.md')
const MAIN = path.join(ROOT, 'apps/server/src/main.ts')
const COMPILE_CACHE = path.join(ROOT, 'node_modules/.cache/code')

let folder: string
let server: ServerProcess
let shown: ShownOutput
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'millrace-docs-')))
  const startedAt = Date.now()
  const settings = { MILLRACE_PORT: '0', MILLRACE_MIN_FREE_DISK_MB: '0', MILLRACE_LOG_LEVEL: 'error' }
  server = await ServerProcess.start({ ...settings, MILLRACE_DATA_DIR: path.join(folder, 'data') })
  await server.printed(/trace hello-1.*\n/)
  await makeOldHook()
  shown = new ShownOutput({ url: server.url, folder, startedAt, writeKeys: await writeKeys() })
}, 30_000)
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

test('docs/cli.md shows what the commands print; to write it anew: npm run test:external -- tests/docs -u', async () => {
  const page = readFileSync(PAGE, 'utf8')
  const parts = page.split(/(^```console\n[\s\S]*?^```$)/m)
  const written: string[] = []
  for (const part of parts) written.push(part.startsWith('```console\n') ? await blockAnew(part) : part)
  await expect(written.join('')).toMatchFileSnapshot(PAGE)
}, 300_000)

test('docs/cli.md shows a use of every command', async () => {
  const script = await output('millrace completion bash')
  const places = [...script.matchAll(/^ {4}'([a-z -]+)'\) candidates=/gm)].map(([, words]) => words!)
  const commands = places.filter((words) => !places.some((other) => other.startsWith(`${words} `)))
  expect(commands).toContain('token create')
  const used = commandsOf(readFileSync(PAGE, 'utf8')).map((command) => command.replace('npm start', 'millrace start'))
  const isUsed = (words: string) => used.some((command) => new RegExp(`\\bmillrace ${words}\\b`).test(command))
  expect(commands.filter((words) => !isUsed(words))).toEqual([])
})

/** A source whose only destination answers 404, so that there is a dead letter to look at. */
async function makeOldHook(): Promise<void> {
  const { call } = owner()
  const { source } = (await call('POST', '/v2/sources', { name: 'Cinema app', type: 'HTTP' })).json
  const hook = { name: 'Old hook', type: 'WEBHOOK', config: { webhookUrl: `${server.url}/inbox/closed` } }
  const { destination } = (await call('POST', '/v2/destinations', hook)).json
  const made = await call('POST', '/v2/connections', { sourceId: source.id, destinationId: destination.id })
  expect(made.status).toBe(200)
}

async function writeKeys(): Promise<string[]> {
  const { sources } = (await owner().call('GET', '/v2/sources')).json
  return sources.map(({ writeKey }: { writeKey: string }) => writeKey)
}

function owner(): ReturnType<typeof clientOf> {
  return clientOf(server.url, readFileSync(path.join(folder, 'data/cli-token'), 'utf8').trim())
}

/** The same commands, each with what it prints now. */
async function blockAnew(block: string): Promise<string> {
  const lines: string[] = []
  for (const command of commandsOf(block)) {
    const printed = command === 'npm start' ? server.stdout : await output(shown.type(command))
    lines.push(`$ ${command}\n${shown.show(printed)}`)
  }
  return `\`\`\`console\n${lines.join('').trimEnd()}\n\`\`\``
}

function commandsOf(page: string): string[] {
  return [...page.matchAll(/^\$ (.+)$/gm)].map(([, command]) => command!)
}

/** Both outputs of a command line, as bash runs it where the data folder is. */
function output(command: string): Promise<string> {
  const program = `millrace() { '${process.execPath}' '${MAIN}' "$@"; }`
  const child = spawn('bash', ['-c', `exec 2>&1; ${program}; ${command}`], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      MILLRACE_URL: server.url,
      MILLRACE_PORT: new URL(server.url).port,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout!.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve(text))
  })
}
