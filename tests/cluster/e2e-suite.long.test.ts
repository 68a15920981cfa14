import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { KafkaCluster } from '@millrace/log/kafka-brokers'
import { PostgresServer } from '@millrace/postgres/local-server'
import { expect, test } from 'vitest'
import { DIFFERENCES, type Difference, EMBEDDED_ONLY } from './differences.ts'

/*
 * The end-to-end tests of the embedded server, unchanged, over a cluster: each product that they open is one process with all roles,
 * with topics and a schema of its own (apps/dev-env/src/cluster-settings.ts).
 */

const ROOT = path.dirname(path.dirname(import.meta.dirname))

test('the end-to-end tests pass over a cluster, but for what the contract names as different', {
  timeout: 1_800_000,
}, async () => {
  await using kafka = await KafkaCluster.start({ brokers: 1 })
  await using postgres = await PostgresServer.start()
  const { failed, passed } = await endToEndTests({
    MILLRACE_KAFKA_BROKERS: kafka.addresses.join(','),
    MILLRACE_POSTGRES_URL: postgres.url,
  })
  const unexpected = failed.filter((name) => !DIFFERENCES.some((each) => isOf(each, name)))
  const gone = DIFFERENCES.filter((each) => each.mayPass !== true && !failed.some((name) => isOf(each, name)))
  expect(passed).toBeGreaterThan(300)
  // What no longer differs is to be removed from the list.
  expect({ unexpected, gone }).toEqual({ unexpected: [], gone: [] })
})

function isOf({ file, tests }: Difference, name: string): boolean {
  return name.startsWith(`${file}: `) && (tests === undefined || tests.some((text) => name.includes(text)))
}

/** @returns `<file>: <test>` of what failed, and the number of tests that passed. */
async function endToEndTests(cluster: Readonly<Record<string, string>>) {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'millrace-e2e-'))
  const report = path.join(folder.path, 'report.json')
  const { PATH = '', HOME = '' } = process.env
  const words = [
    'run',
    '--project',
    'e2e',
    ...endToEndFiles(),
    '--hookTimeout=60000',
    '--reporter=json',
    `--outputFile=${report}`,
  ]
  const run = spawn(process.execPath, [path.join(ROOT, 'node_modules/vitest/vitest.mjs'), ...words], {
    cwd: ROOT,
    env: { PATH, HOME, ...cluster },
    stdio: 'ignore',
  })
  await once(run, 'close')
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const failed: string[] = []
  let passed = 0
  for (const { name, status, assertionResults } of testResults) {
    const file = path.relative(ROOT, name)
    if (status === 'failed' && assertionResults.length === 0) failed.push(`${file}: it could not be loaded`)
    for (const each of assertionResults) {
      if (each.status === 'passed') passed++
      else if (each.status === 'failed') failed.push(`${file}: ${each.fullName}`)
    }
  }
  return { failed, passed }
}

function endToEndFiles(): string[] {
  const leftOut = new Set(EMBEDDED_ONLY.map(({ file }) => file))
  return globSync('tests/e2e/**/*.test.ts', { cwd: ROOT }).filter(
    (file) => !leftOut.has(file) && !/\.(external|chaos|long)\.test\.ts$/.test(file),
  )
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}
