import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'
import { median } from '../bench/statistics.ts'

/* @see contracts/cordova-sdk.md §25 */

interface Step {
  readonly name: string
  /** Programs without which it cannot run, each under the names that it has on different systems. */
  readonly tools: readonly (readonly string[])[]
  /** @returns whether it holds. */
  readonly holds: () => boolean
}

const root = path.dirname(import.meta.dirname)
const CHROMIUM = ['chromium', 'chromium-browser', 'google-chrome']
const JAVA = [['javac'], ['mvn']]
const C = [['clang', 'gcc']]
const IOS = 'sdks/cordova/src/testing/ios'
/** contracts/cordova-sdk.md §23; the size is the build's own affair. */
const BUDGETS_MS = { initializeMs: 5, trackMs: 0.1 }

const steps: readonly Step[] = [
  { name: 'types', tools: [], holds: () => node('scripts/types.mjs') },
  {
    name: 'lint',
    tools: [],
    holds: () =>
      node(
        'node_modules/@biomejs/biome/bin/biome',
        'ci',
        '--error-on-warnings',
        'sdks',
        'tests/sdk',
        'tests/sdk-android',
        'tests/sdk-ios',
      ),
  },
  { name: 'core', tools: [], holds: () => tests(['hermetic'], ['sdks/cordova', 'tests/sdk']) },
  {
    name: 'browser-scenarios',
    tools: [CHROMIUM],
    holds: () => tests(['external', 'long'], ['sdks/cordova/src/browser']),
  },
  { name: 'android-scenarios', tools: JAVA, holds: () => tests(['long'], ['tests/sdk-android/engine']) },
  { name: 'android-compile', tools: JAVA, holds: () => tests(['long'], ['tests/sdk-android/compile']) },
  { name: 'android-app', tools: JAVA, holds: () => tests(['long'], ['tests/sdk-android/product']) },
  { name: 'ios-scenarios', tools: C, holds: () => tests(['long'], ['scenarios', 'engine', 'fuzz'].map(ofIos)) },
  { name: 'ios-objective-c', tools: [['clang'], ['npm']], holds: () => tests(['long'], [ofIos('objective-c')]) },
  { name: 'ios-app', tools: C, holds: () => tests(['long'], [ofIos('product')]) },
  {
    name: 'install',
    tools: [['npm']],
    holds: () =>
      tests(
        ['external', 'long'],
        ['tests/sdk/package', 'tests/sdk/install', 'tests/sdk-android/install', 'tests/sdk-ios/install'],
      ),
  },
  { name: 'capacitor', tools: [['npm']], holds: () => tests(['long'], ['tests/sdk/capacitor']) },
  { name: 'browser-app', tools: [CHROMIUM, ['npm']], holds: () => tests(['long'], ['tests/sdk/browser']) },
  { name: 'beside', tools: [CHROMIUM, ['npm']], holds: () => tests(['long'], ['tests/sdk/beside']) },
  { name: 'budgets', tools: [CHROMIUM], holds: () => node('scripts/build-sdk.ts') && staysWithinBudgets() },
]

const { positionals: asked, refuse } = programArguments({
  usage: `Checks everything about the SDK that needs no account, phone, Android SDK or Xcode.

  npm run sdk:verify [-- <step> …]

A step without its tools is skipped; with SDK_REQUIRE_ALL=1 a skipped step is a failure. Steps:

${steps.map(({ name, tools }) => `  ${name.padEnd(18)} ${needs(tools)}`.trimEnd()).join('\n')}`,
  takesNames: true,
})
const unknown = asked.find((name) => !steps.some((step) => step.name === name))
if (unknown !== undefined) refuse(`There is no step ${unknown}.`)

const outcomes = steps
  .filter(({ name }) => asked.length === 0 || asked.includes(name))
  .map((step) => ({ name: step.name, outcome: outcomeOf(step) }))
for (const { name, outcome } of outcomes) console.log(`${outcome} ${name}`)
const isSkipFailure = process.env.SDK_REQUIRE_ALL === '1'
const failures = outcomes.filter(({ outcome }) => outcome === 'FAILED' || (outcome === 'SKIPPED' && isSkipFailure))
process.exitCode = failures.length > 0 ? 1 : 0

function needs(tools: Step['tools']): string {
  return tools.length === 0 ? '' : `needs ${tools.map(([tool]) => tool).join(', ')}`
}

function outcomeOf({ name, tools, holds }: Step): 'HOLDS' | 'FAILED' | 'SKIPPED' {
  const missing = tools.find((names) => !names.some(isInstalled))
  if (missing) {
    console.log(`SKIPPED ${name}: ${missing[0]} not found`)
    return 'SKIPPED'
  }
  console.log(`── ${name}`)
  return holds() ? 'HOLDS' : 'FAILED'
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function ofIos(file: string): string {
  return `${IOS}/${file}`
}

function tests(projects: readonly ('hermetic' | 'external' | 'long')[], files: readonly string[]): boolean {
  const wanted = projects.flatMap((project) => ['--project', project])
  return node('node_modules/vitest/vitest.mjs', 'run', ...wanted, ...files)
}

function node(...command: readonly string[]): boolean {
  return spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' }).status === 0
}

/** Of the medians of 20 pages, because a page that had to wait for the machine says nothing of the SDK. */
function staysWithinBudgets(): boolean {
  const bench = [path.join(root, 'bench/main.ts'), 'P15', '--json']
  const { status, stdout } = spawnSync(process.execPath, bench, { cwd: root, encoding: 'utf8' })
  if (status !== 0) return false
  const [{ samples }] = JSON.parse(stdout) as [{ samples: Record<keyof typeof BUDGETS_MS, number[]> }]
  return Object.entries(BUDGETS_MS).every(([name, budget]) => {
    const typical = median(samples[name as keyof typeof BUDGETS_MS])
    console.log(`${name}: ${typical.toFixed(3)} of ${budget}`)
    return typical < budget
  })
}
