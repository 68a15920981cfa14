import { execFileSync, spawnSync } from 'node:child_process'
import path from 'node:path'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'

/* Tests of the packages above are for `npm test` and `npm run test:e2e`: nearly all of them import each package below. @see decision 0105 */
programArguments({
  usage: `Runs lint, types, the tests of the tree, and the tests of the changed packages that import a changed file. It stops at the
first step that fails.

  npm run check`,
})

const ROOT = path.dirname(import.meta.dirname)
const hermetic: [string, ...string[]] = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'hermetic']

const changed = [
  // As `vitest --changed`: what is not committed yet.
  ...git('diff', '--name-only', '--no-renames', 'HEAD'),
  ...git('ls-files', '--others', '--exclude-standard'),
]
const folders = new Set(changed.flatMap((file) => /^((packages|apps|sdks)\/[^/]+|tests)\//.exec(file)?.[1] ?? []))

step('lint', 'node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings')
step('types', 'scripts/types.mjs')
step('tests of the tree', ...hermetic, 'tests/tidy', 'tests/citations', 'tests/docs')
if (folders.size > 0) {
  // Of a document, or a file that no test imports, there are none.
  const filters = [...folders].map((folder) => `${folder}/`)
  if (folders.has('tests')) filters.push('--project', 'e2e')
  step(`tests of ${[...folders].join(', ')}`, ...hermetic, '--changed', '--passWithNoTests', ...filters)
}

function step(name: string, program: string, ...words: readonly string[]): void {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, [program, ...words], { cwd: ROOT, stdio: 'inherit' })
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  process.stdout.write(`── ${name}: ${status === 0 ? 'passed' : 'FAILED'} after ${seconds} s\n`)
  if (status !== 0) process.exit(status ?? 1)
}

function git(...words: string[]): string[] {
  return execFileSync('git', [...words, '-z'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '')
}
