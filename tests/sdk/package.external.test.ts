import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { packedPlugin } from './cordova-cli.ts'

test('the tarball holds what is built and named, no dependency, no hook, and nothing else', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-package-'))
  try {
    const tarball = await packedPlugin(folder)
    execFileSync('tar', ['-xzf', tarball, '-C', folder])
    const listed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
    const own = listed.map((file) => file.replace('package/', '')).filter((file) => !/^src\/(android|ios)\//.test(file))
    expect(own.sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'esm/index.js',
      'package.json',
      'plugin.xml',
      'types/index.d.ts',
      'www/service-client.js',
    ])
    const manifest = JSON.parse(readFileSync(path.join(folder, 'package/package.json'), 'utf8'))
    for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
      expect(manifest[kind]).toBeUndefined()
    }
    expect(Object.keys(manifest.scripts)).toEqual(['prepack'])
    const plugin = readFileSync(path.join(folder, 'package/plugin.xml'), 'utf8')
    expect(plugin).not.toMatch(/<hook|<preference|<dependency|<pods|<framework[^>]*custom/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
