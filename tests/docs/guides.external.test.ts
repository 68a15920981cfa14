import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MAIN, ServerProcess } from '../e2e/server-process.ts'
import { namedFiles, shellBlocks } from './shell-blocks.ts'

/* The shell commands of the guides, run in their order in bash, each guide on a server after its first start. */

const COMPILE_CACHE = path.resolve(import.meta.dirname, '../../node_modules/.cache/code')
const DEFINITIONS = shellBlocks('docs/README.md')[0]!.commands
const MARK = '--- block'

/** Values that a reader puts in: `SOURCE=…` is the id of the newest source, `KEY=…` its write key. */
const VALUES: Record<string, [list: string, member: string]> = {
  SOURCE: ['sources', 'id'],
  KEY: ['sources', 'writeKey'],
  DESTINATION: ['destinations', 'id'],
  CONNECTION: ['connections', 'id'],
  TRANSFORMATION: ['transformations', 'id'],
}

/** `npm` as the pages use it, and a curl that fails when the server refuses. */
const SURROUNDINGS = `set -euo pipefail
npm() { while [ "$1" != -- ]; do shift; done; shift; node '${MAIN}' "$@"; }
curl() { command curl --fail-with-body "$@"; }
newest() {
  command curl -sS -H "Authorization: Bearer $(cat data/cli-token)" "$MILLRACE_URL/v2/$1" |
    LIST=$1 MEMBER=$2 node -p 'const { LIST, MEMBER } = process.env
      JSON.parse(fs.readFileSync(0))[LIST].toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0][MEMBER]'
}
`

let folder: string
let server: ServerProcess
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'millrace-guides-')))
  const settings = { MILLRACE_PORT: '0', MILLRACE_MIN_FREE_DISK_MB: '0', MILLRACE_LOG_LEVEL: 'error' }
  server = await ServerProcess.start({ ...settings, MILLRACE_DATA_DIR: path.join(folder, 'data') })
  await server.printed(/trace hello-1.*\n/)
}, 60_000)
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

test.each([
  'README.md',
  'docs/sending-events.md',
  'docs/webhook-sources.md',
  'docs/sources-and-destinations.md',
  'docs/filtering-events.md',
  'docs/transformations.md',
  'docs/test-api.md',
  'docs/schema-catalog.md',
  'docs/operations.md',
])(
  'every shell command of %s works as it is printed, and prints what is shown below it',
  async (page) => {
    const blocks = shellBlocks(page)
    expect(blocks.length).toBeGreaterThan(0)
    for (const { name, text } of namedFiles(page)) writeFileSync(path.join(folder, name), text)
    const definitions = page === 'README.md' ? '' : DEFINITIONS
    const commands = blocks.map((block) => `echo '\n${MARK}'\n${filledIn(block.commands)}`)
    const { failure, out } = await bash([SURROUNDINGS, definitions, ...commands].join('\n'))
    expect(failure, out).toBe('')
    const printed = out.split(`\n${MARK}\n`).slice(1)
    for (const [i, { shown }] of blocks.entries()) if (shown !== undefined) expect(printed[i]).toContain(shown)
  },
  120_000,
)

function filledIn(commands: string): string {
  return commands.replace(/^(\w+)=…$/gm, (_, name: string) => `${name}=$(newest ${VALUES[name]!.join(' ')})`)
}

function bash(script: string): Promise<{ failure: string; out: string }> {
  const env = {
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}`,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    MILLRACE_URL: server.url,
  }
  const here = script.replaceAll('http://127.0.0.1:8080', server.url)
  return new Promise((resolve) => {
    execFile('bash', ['--norc', '-c', here], { cwd: folder, env }, (error, out, err) =>
      resolve({ failure: error === null ? '' : `exit code ${error.code}\n${err}`, out }),
    )
  })
}
