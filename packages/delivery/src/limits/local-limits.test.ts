import { describeDestinationLimits } from './conformance.ts'
import { LocalDestinationLimits } from './local-limits.ts'

describeDestinationLimits('lanes of one thread', () => {
  const limits = new LocalDestinationLimits()
  return () => limits
})

describeDestinationLimits('lanes of a process that gets from the others whatever it asks for', () => {
  const limits = new LocalDestinationLimits(() => ({
    configured: () => {},
    concurrencyOf: (concurrency) => concurrency,
    tokenWaitMs: () => 0,
    takeToken: () => {},
    mayProbe: () => true,
    probeTaken: () => {},
    probeEnded: () => {},
    noted: () => {},
  }))
  return () => limits
})
