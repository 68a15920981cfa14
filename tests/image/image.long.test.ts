import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/*
 * There is no container engine here. So the steps of the Dockerfile run without one: scripts/image/lay-out.sh in a clone, then its
 * result in a fresh Debian (debootstrap), with a root that cannot be written, as the image's user, without any other network.
 */

const run = promisify(execFile)
const ROOT = path.dirname(path.dirname(import.meta.dirname))
const canRun = process.getuid?.() === 0 && existsSync('/usr/sbin/debootstrap')

test.skipIf(!canRun)(
  'the content of the image delivers an event in a fresh Debian, with a read-only root and without privileges',
  async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'millrace-image-'))
    const root = path.join(folder.path, 'root')
    await run('debootstrap', ['--variant=minbase', `--include=${await packagesOfImage()}`, 'bookworm', root])
    await run('git', ['clone', '--quiet', '--local', ROOT, path.join(root, 'source')])
    await run('sh', [path.join(root, 'source/scripts/image/lay-out.sh'), path.join(root, 'millrace')])
    const script = path.join(import.meta.dirname, 'in-clean-root.sh')
    const check = fileURLToPath(new URL('./delivers.ts', import.meta.url))
    const { stdout } = await run('unshare', ['--mount', '--net', '--pid', '--fork', 'sh', script, root, check])
    expect(stdout.split('\n')).toEqual([
      'root: EROFS',
      'user: 10001',
      'healthy: yes',
      'delivered, shaped by user code: yes',
      'hint: (see millrace help trace)',
      'exit code: 0',
      '',
    ])
  },
  600_000,
)

/** What the last stage of the Dockerfile installs. */
async function packagesOfImage(): Promise<string> {
  const text = await readFile(path.join(ROOT, 'Dockerfile'), 'utf8')
  const last = text.slice(text.lastIndexOf('\nFROM '))
  return /--no-install-recommends ([a-z0-9 +-]+?) &&/.exec(last)![1]!.replaceAll(' ', ',')
}
