import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { PostgresServer } from '../local-server/postgres-server.ts'
import { PostgresPool } from '../postgres-pool.ts'
import { RUN_FOLDER, RUN_PROCESS } from './test-run.ts'

const START_MS = 60_000

/** A schema of its own on the server of this test run; removed at the end. */
export class TestSchema implements AsyncDisposable {
  readonly url: string
  readonly schema: string

  private constructor(url: string, schema: string) {
    this.url = url
    this.schema = schema
  }

  /** @param name of the test file, for people who look into the server. */
  static async open(name: string): Promise<TestSchema> {
    return TestSchema.on(await serverOfRun(), name)
  }

  /** On a server of the test's own, which it may stop and kill. */
  static on({ url }: { readonly url: string }, name: string): TestSchema {
    return new TestSchema(url, `${name.replace(/\W/g, '_')}_${crypto.randomUUID().slice(0, 8)}`)
  }

  /** A pool that the caller closes. */
  pool(options: Partial<ConstructorParameters<typeof PostgresPool>[0]> = {}): PostgresPool {
    const { url, schema } = this
    const logger = { warn: () => {} }
    return new PostgresPool({ url, schema, connections: 8, applicationName: schema, logger, ...options })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using pool = this.pool()
    await pool.query(`DROP SCHEMA IF EXISTS "${this.schema}" CASCADE`)
  }
}

/** The server that all test files of one run share; the first file that asks starts it. */
async function serverOfRun(): Promise<{ readonly url: string }> {
  const folder = process.env[RUN_FOLDER]
  if (folder === undefined) throw new Error('vitest.config.ts does not start this test with testing/test-run.ts')
  const address = path.join(folder, 'address')
  try {
    mkdirSync(path.join(folder, 'starting'))
  } catch {
    const deadline = performance.now() + START_MS
    while (!existsSync(address)) {
      if (performance.now() > deadline) throw new Error('another test file did not start Postgres within a minute')
      await delay(20)
    }
    return { url: readFileSync(address, 'utf8') }
  }
  const { url } = await PostgresServer.start(folder, Number(process.env[RUN_PROCESS]))
  writeFileSync(`${address}.new`, url)
  renameSync(`${address}.new`, address)
  return { url }
}
