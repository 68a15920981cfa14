import type { EventTrace, Journey } from '../../../api/events.ts'
import type { NamedStep } from './use-trace-names.ts'

export interface StepDiffsProps {
  readonly trace: EventTrace
  readonly journey: Journey
  readonly steps: readonly NamedStep[]
}
