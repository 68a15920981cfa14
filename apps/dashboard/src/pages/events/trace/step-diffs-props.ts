import type { EventTrace, Journey } from '@millrace/api-types'
import type { NamedStep } from './use-trace-names.ts'

export interface StepDiffsProps {
  readonly trace: EventTrace
  readonly journey: Journey
  readonly steps: readonly NamedStep[]
}
