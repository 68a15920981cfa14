import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failedStart } from './failed-start.ts'
import { folderBytes } from './folder-bytes.ts'
import { PLAIN, ServerProcess } from './server-process.ts'

/* A start that cannot succeed names what is wrong and what to do (contracts/control-plane.md §4 [D8]). */

const WRONG_SETTINGS = [
  ['MILLRACE_PORT', 'http', '"http"', 'a whole number from 0 to 65,535'],
  ['MILLRACE_MAX_EVENT_KB', '-1', '"-1"', 'a whole number from 0 to 65,536'],
  ['MILLRACE_QUICKSTART', 'no', '"no"', 'on or off'],
  ['MILLRACE_EGRESS_ALLOW', '10.0.0.0/99', '"10.0.0.0/99"', 'addresses, CIDR ranges or hosts'],
  ['MILLRACE_SECRET_KEY', 'too-short-a-key', '15 characters', '32 bytes as base64, or as 64 hex digits'],
  ['MILLRACE_OWNER_TOKEN', 'short-secret', '12 characters', '24 to 200 printable characters'],
] as const

test('every wrong setting is named with what was given and what is allowed, and no secret is shown', async () => {
  await using folder = await newFolder()
  const wrong = Object.fromEntries(WRONG_SETTINGS.map(([name, value]) => [name, value]))
  const failure = await failedStart({ ...PLAIN, ...wrong, MILLRACE_DATA_DIR: folder.path })
  const lines = failure.split('\n')
  for (const [name, , given, allowed] of WRONG_SETTINGS) {
    const line = lines.find((each) => each.includes(`${name} is `))
    expect(line).toContain(given)
    expect(line).toContain(`allowed: ${allowed}`)
  }
  expect(failure).not.toMatch(/too-short-a-key|short-secret/)
  expect([...folderBytes(folder.path).keys()]).toEqual([])
})

test('a port in use; the start on another port is still the first', async () => {
  await using folder = await newFolder()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as { port: number }
  const failure = await failedStart({ ...PLAIN, MILLRACE_DATA_DIR: folder.path, MILLRACE_PORT: String(port) })
  other.close()
  expect(failure).toMatch(new RegExp(`^Millrace cannot start: port ${port} .*in use.*MILLRACE_PORT`))

  const quickstart = { MILLRACE_QUICKSTART: 'on', MILLRACE_PORT: '0', MILLRACE_DATA_DIR: folder.path }
  await using server = await ServerProcess.start({ ...PLAIN, ...quickstart })
  await server.printed(/trace hello-1.*\n/)
  expect(readFileSync(join(folder.path, 'cli-token'), 'utf8')).toMatch(/^mr_pat_/)
})

test('a data folder that cannot be written', async () => {
  await using folder = await newFolder()
  const file = join(folder.path, 'file')
  writeFileSync(file, 'not a folder')
  const failure = await failedStart({ ...PLAIN, MILLRACE_DATA_DIR: join(file, 'data') })
  expect(failure).toMatch(/^Millrace cannot start: data folder .*file.data cannot be written.*MILLRACE_DATA_DIR/)
})

test('a data folder that another process has open; when that one is killed, it is free', async () => {
  await using folder = await newFolder()
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path }
  await using first = await ServerProcess.start(environment)
  const failure = await failedStart(environment)
  expect(failure).toMatch(/^Millrace cannot start: data folder .* is in use by another Millrace/)
  expect((await fetch(`${first.url}/ready`)).status).toBe(200)

  first.signal('SIGKILL')
  await first.exited
  await using third = await ServerProcess.start(environment)
  expect(await third.stop()).toBe(0)
})

function newFolder() {
  return mkdtempDisposable(join(tmpdir(), 'millrace-bad-start-'))
}
