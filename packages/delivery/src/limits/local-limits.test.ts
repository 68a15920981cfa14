import { describeDestinationLimits } from './conformance.ts'
import { LocalDestinationLimits } from './local-limits.ts'

describeDestinationLimits('lanes of one thread', () => {
  const limits = new LocalDestinationLimits()
  return () => limits
})
