import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// The suffix of a test file says what it needs:
//   .test.ts           nothing but this checkout; together they are `npm test`
//   .external.test.ts  servers or a browser, which `.ci/run` installs and starts
//   .chaos.test.ts     seconds of breaking processes, disks and days of delivery
//   .long.test.ts      minutes, compilers, or the registries of several languages: `npm run verify:long`
// A long test file that only imports a shorter one repeats it with more rounds, larger numbers and longer times: FULL is set there.
const hermetic = ['{packages,apps,sdks}/*/src/**/*.test.ts', 'apps/dashboard/build/*.test.ts', 'tests/**/*.test.ts']
const suffixes = ['external', 'chaos', 'long']

export default defineConfig({
  test: {
    // A test file waits now and then for a disk, a process or a browser: half as many files again as cores are at work.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: [
      {
        test: {
          name: 'hermetic',
          include: hermetic,
          exclude: suffixes.map((suffix) => `**/*.${suffix}.test.ts`),
          pool: 'forks',
          // A process for each file spends half of its time on loading what the one before it had.
          isolate: false,
          testTimeout: 20_000,
          hookTimeout: 30_000,
          expect: { poll: { timeout: 10_000 } },
        },
      },
      ...suffixes.map((name) => ({
        test: {
          name,
          ...(name === 'long' ? { env: { FULL: '1' } } : {}),
          // Test files that need Postgres or Kafka share one server of each, which starts when the first of them asks.
          globalSetup: [
            'packages/postgres/src/testing/test-run.ts',
            'packages/log/src/kafka-brokers/testing/test-run.ts',
          ],
          include: [`tests/**/*.${name}.test.ts`, `{packages,apps,sdks}/*/src/**/*.${name}.test.ts`],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          expect: { poll: { timeout: 15_000 } },
        },
      })),
    ],
  },
})
