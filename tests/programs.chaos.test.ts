import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './tree.ts'

/** What `npm run <name>` starts: files of this tree, without the command line of the product and its own help. */
const programs = Object.entries(
  (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts,
).flatMap(([name, script]) => {
  const [, file] = /^exec node scripts\/run\.mjs (\S+)$/.exec(script) ?? []
  const isOurs = file !== undefined && !file.startsWith('node_modules/') && file !== 'apps/server/src/main.ts'
  return isOurs ? [{ name, file }] : []
})

function run(file: string, argument: string): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [path.join(root, file), argument], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr })
    })
  })
}

test('there are programs to try', () => {
  expect(programs.map(({ name }) => name)).toEqual(expect.arrayContaining(['bench', 'chaos', 'dev', 'sbom', 'types']))
})

test.each(programs)('npm run $name shows the usage for an unknown option, and names it', async ({ name, file }) => {
  const { code, stdout, stderr } = await run(file, '--no-such-option')
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
  expect(stderr).toMatch(/\n\nUnknown option '--no-such-option'\.\n$/)
  expect(stderr).toContain(`\n  npm run ${name}`)
  expect(stderr).not.toContain('    at ')
})

test('--help of a program shows the same usage, and does nothing else', async () => {
  const { file } = programs.find(({ name }) => name === 'bench')!
  const { code, stdout, stderr } = await run(file, '--help')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('\n  npm run bench')
  expect(stdout).toMatch(/\n {2}P1 +acknowledged events/)
})
