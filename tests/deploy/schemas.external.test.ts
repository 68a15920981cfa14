import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { MANIFESTS } from './deployed.ts'

/* No container engine and no Kubernetes runs here: the files are compared with the published schemas. */

const run = promisify(execFile)
/** Both from the registry of Python, each with the schemas in it. */
const VALIDATORS = ['check-jsonschema==0.39.0', 'kubernetes-validate==1.37.0']
/** The oldest one that we support, and the newest one that the validator knows. */
const KUBERNETES = ['1.30', '1.37']

let programs: string
beforeAll(async () => {
  const cache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache')
  const folder = path.join(cache, 'millrace', `deploy-validators-${VALIDATORS.join('-').replaceAll('==', '-')}`)
  programs = path.join(folder, 'bin')
  if (existsSync(path.join(folder, 'complete'))) return
  await run('python3', ['-m', 'venv', '--clear', folder])
  await run(path.join(programs, 'pip'), ['install', '--quiet', ...VALIDATORS])
  await run('touch', [path.join(folder, 'complete')])
}, 120_000)

test('compose.yaml fits the schema of the Compose specification', async () => {
  const file = path.join(import.meta.dirname, '../../compose.yaml')
  const args = ['--builtin-schema', 'vendor.compose-spec', file]
  const { stdout } = await run(path.join(programs, 'check-jsonschema'), args)
  expect(stdout).toContain('ok')
})

// Strict: a member that Kubernetes does not know is an error.
test.each(KUBERNETES)('every manifest fits the strict schema of its kind in Kubernetes %s', async (version) => {
  const files = (await readdir(MANIFESTS)).filter((name) => name.endsWith('.yaml'))
  expect(files.length).toBeGreaterThan(5)
  const args = ['--strict', '--kubernetes-version', version, ...files]
  await run(path.join(programs, 'kubernetes-validate'), args, { cwd: MANIFESTS })
})
