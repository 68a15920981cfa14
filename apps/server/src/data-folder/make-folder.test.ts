import { execFile } from 'node:child_process'
import { mkdtempDisposableSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeFolder } from './make-folder.ts'

test('makes the folders above, too, for this user alone; an existing one stays as it is', () => {
  using root = mkdtempDisposableSync(join(tmpdir(), 'millrace-make-folder-'))
  const path = join(root.path, 'a/b')
  makeFolder(path)
  makeFolder(path)
  expect([statSync(join(root.path, 'a')).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o700])
  writeFileSync(join(path, 'file'), '')
  expect(() => makeFolder(join(path, 'file/c'))).toThrow('ENOTDIR')
})

test.skipIf(process.platform !== 'linux')(
  'below a deleted working directory it fails instead of never ending',
  async () => {
    const program = `
    import { mkdtempSync, rmdirSync } from 'node:fs'
    import { makeFolder } from '${new URL('./make-folder.ts', import.meta.url).href}'
    const folder = mkdtempSync('${join(tmpdir(), 'millrace-make-folder-')}')
    process.chdir(folder)
    rmdirSync(folder)
    try { makeFolder('data/backups') } catch (error) { console.log(error.code) }`
    const words = ['--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 20_000 })
    expect(stdout).toBe('ENOENT\n')
  },
)
