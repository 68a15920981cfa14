import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// The suffix of a test file says what it needs:
//   .test.ts           nothing but this checkout; `npm test` runs them, but for those of the whole product in tests/e2e: `npm run test:e2e`
//   .external.test.ts  servers or a browser, which `.ci/run` installs and starts
//   .chaos.test.ts     seconds of breaking processes, disks and days of delivery
//   .long.test.ts      minutes, compilers, or the registries of several languages: `npm run verify:long`
// The last of them has FULL set, and also runs some shorter files, which then have more rounds, larger numbers or more variants:
const fullForms = [
  'packages/delivery/src/store/sqlite/letters/dead-letters.chaos.test.ts',
  'packages/log/src/kafka/kafka-event-log.external.test.ts',
  'tests/chaos/replay.chaos.test.ts',
  'tests/dashboard/*.external.test.ts',
  'tests/e2e/faults.chaos.test.ts',
]
const suffixes = ['external', 'chaos', 'long']

// The files of tests lie in memory where there is room: a database that syncs them need not wait for the disk, and no test cuts the power.
const MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 8 * 1024 ** 3
if (process.env['TMPDIR'] === undefined && freeBytes(MEMORY) >= MIN_FREE_BYTES) {
  const folder = mkdtempSync(`${MEMORY}/millrace-tests-`)
  // Postgres runs as a user of its own, below this folder.
  chmodSync(folder, 0o711)
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
const hermetic = {
  exclude: suffixes.map((suffix) => `**/*.${suffix}.test.ts`),
  pool: 'forks',
  // A process for each file spends half of its time on loading what the one before it had.
  isolate: false,
  testTimeout: 20_000,
  hookTimeout: 30_000,
  expect: { poll: { timeout: 10_000 } },
} as const

/** Vitest starts large files first, so that no long one runs alone at the end. These are small and run long: what they run is elsewhere. */
const LONG_FIRST = [
  'tests/e2e/test-api/stages.test.ts',
  'tests/e2e/roles.test.ts',
  'packages/log/src/sqlite/sqlite-event-log.test.ts',
  'tests/e2e/test-api/every-type.test.ts',
  'tests/docs/cli.external.test.ts',
  'tests/docs/guides.external.test.ts',
  'packages/log/src/kafka/kafka-event-log.external.test.ts',
  'tests/clients/clients.external.test.ts',
  'packages/delivery/src/store/postgres/postgres-delivery-store.external.test.ts',
  'tests/e2e/faults.chaos.test.ts',
  'tests/chaos/programs.chaos.test.ts',
  'tests/destinations/new-destination.chaos.test.ts',
  'tests/programs.chaos.test.ts',
  'tests/destinations/destination-live.chaos.test.ts',
  'tests/chaos/replay.chaos.test.ts',
  'tests/chaos/restore.chaos.test.ts',
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG_FIRST.some((name) => moduleId.endsWith(name))
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    return [...byProject.values()].flatMap((of) => [...of.filter(isLong), ...of.filter((file) => !isLong(file))])
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    // A test file waits now and then for a disk, a process or a browser: half as many files again as cores are at work.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: [
      {
        test: {
          ...hermetic,
          name: 'hermetic',
          include: [
            '{packages,apps,sdks}/*/src/**/*.test.ts',
            'apps/dashboard/build/*.test.ts',
            'tests/{*,!(e2e)/**/*}.test.ts',
          ],
        },
      },
      { test: { ...hermetic, name: 'e2e', include: ['tests/e2e/**/*.test.ts'] } },
      ...suffixes.map((name) => ({
        test: {
          name,
          ...(name === 'long' ? { env: { FULL: '1' } } : {}),
          // Test files that need Postgres or Kafka share one server of each, which starts when the first of them asks.
          globalSetup: [
            'packages/postgres/src/testing/test-run.ts',
            'packages/log/src/kafka-brokers/testing/test-run.ts',
          ],
          include: [
            ...[`tests/**/*.${name}.test.ts`, `{packages,apps,sdks}/*/src/**/*.${name}.test.ts`],
            ...(name === 'long' ? fullForms : []),
          ],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          expect: { poll: { timeout: 15_000 } },
        },
      })),
    ],
  },
})

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    // Only Linux has it.
    return 0
  }
}
