import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/* What docs/cordova-sdk-beside-others.md says of ours, by the script that made its tables. */

const ROOT = path.join(import.meta.dirname, '../..')

interface Fault {
  readonly fault: string
  readonly lost: number
}

test('no event is lost while the network is gone, the server is, an answer is, or the page is left', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    path.join(ROOT, 'scripts/beside/main.ts'),
    'service-sdk-cordova',
    '--json',
  ])
  const [{ faults }] = JSON.parse(stdout) as [{ faults: readonly Fault[] }]
  // Nobody has waited for these calls to be answered `stored`, which is what survives a kill.
  const promised = faults.filter(({ fault }) => fault !== 'the browser is killed right after the last call')
  expect(promised).toHaveLength(7)
  expect(promised.filter(({ lost }) => lost > 0)).toEqual([])
}, 600_000)
