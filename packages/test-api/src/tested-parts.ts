import type { DestinationModule, Masking, Override } from '@millrace/destinations'
import type { DestinationTest } from './destination-test.ts'
import type { TestRun } from './runs/test-run.ts'
import type { TestedDestination } from './test-api-options.ts'

/** What extras are made of. */
export interface TestedParts {
  readonly run: TestRun
  readonly destination: TestedDestination
  readonly module: DestinationModule
  readonly override: Override
  readonly test: DestinationTest
  readonly masking: Masking
}
