import { spawnSync } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ServerProcess } from './server-process.ts'

/** Becomes the program behind it, in a network namespace with a loopback interface and nothing else. */
const WITHOUT_NETWORK = ['unshare', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
const [unshare, ...arguments_] = WITHOUT_NETWORK
const mayUnshare = spawnSync(unshare!, [...arguments_, 'true']).status === 0

// Needs Linux, and a kernel that lets this user make network namespaces.
test.skipIf(!mayUnshare)('without any network a first start accepts and delivers its three sample events', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-no-network-'))
  const environment = { MILLRACE_PORT: '0', MILLRACE_MIN_FREE_DISK_MB: '0', MILLRACE_DATA_DIR: folder.path }
  await using server = await ServerProcess.start(environment, { within: WITHOUT_NETWORK })
  await server.printed(/trace hello-1.*\n/)
  expect(server.stdout.match(/→ Quickstart inbox +200/g)).toHaveLength(3)
  // Of this process the server cannot be reached, so it was in a network of its own.
  await expect(fetch(`${server.url}/ready`)).rejects.toThrow()
  expect(await server.stop()).toBe(0)
})
