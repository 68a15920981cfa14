import type { JsonObject } from '@millrace/protocol'
import type { StageFlags, TestOptions } from '../stage-flags.ts'
import type { TestApiOptions, TestClient, TestedSource, Tester } from '../test-api-options.ts'
import type { TimeLimit } from './time-limit.ts'

/** What a run needs of the others. */
export type RunOptions = Pick<
  TestApiOptions,
  'configuration' | 'destinationTypes' | 'sourceClass' | 'userCode' | 'credentials' | 'clock' | 'version'
> & { readonly limits: { readonly maxEventBytes: number } }

/** One request: what is common to all destinations that it tests. */
export interface TestRun {
  readonly options: RunOptions
  readonly tester: Tester
  readonly flags: StageFlags
  readonly asked: TestOptions
  readonly message: JsonObject
  /** Absent in the test of one destination. */
  readonly source: TestedSource | undefined
  readonly override: JsonObject | undefined
  readonly client: TestClient
  readonly limit: TimeLimit
}
