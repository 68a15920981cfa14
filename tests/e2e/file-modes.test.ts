import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PLAIN, ServerProcess } from './server-process.ts'

/* Only the user that runs the server may read what it keeps. */

/** Every file and folder below one, itself included, by what others may do with it. */
function modesBelow(folder: string): Map<string, string> {
  const below = readdirSync(folder, { recursive: true }) as string[]
  return new Map(['.', ...below].map((name) => [name, (lstatSync(join(folder, name)).mode & 0o777).toString(8)]))
}

test.skipIf(process.platform === 'win32')(
  'a new data folder belongs to its user alone, and an open one is corrected',
  async () => {
    await using parent = await mkdtempDisposable(join(tmpdir(), 'millrace-modes-'))
    const folder = join(parent.path, 'data')
    const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder, MILLRACE_LOG_LEVEL: 'info' }
    {
      await using server = await ServerProcess.start(environment)
      const headers = { authorization: `Bearer ${PLAIN['MILLRACE_OWNER_TOKEN']}` }
      await fetch(`${server.url}/v2/admin/backup`, { method: 'POST', headers })
      await expectPrivate(folder)
      expect(server.stderr).not.toContain('other users could read')
      await server.stop()
    }
    chmodSync(folder, 0o755)
    chmodSync(join(folder, 'control.db'), 0o644)
    mkdirSync(join(folder, 'backups'), { recursive: true })
    writeFileSync(join(folder, 'backups', 'old.tar'), '', { mode: 0o664 })
    {
      await using server = await ServerProcess.start(environment)
      await expectPrivate(folder)
      const line = JSON.parse((await server.logged(/.*other users could read.*/))[0])
      expect(line).toMatchObject({ level: 40, folder, corrected: 3 })
      await server.stop()
    }
  },
)

async function expectPrivate(folder: string): Promise<void> {
  const modes = modesBelow(folder)
  expect(modes.get('control.db')).toBe('600')
  for (const [name, mode] of modes)
    expect([name, mode]).toEqual([name, mode === '700' || mode === '600' ? mode : 'private'])
  expect(modes.get('.')).toBe('700')
}
