export { ByteCollector } from './byte-collector.ts'
export { type Clock, systemClock, type Timer } from './clock.ts'
export { ClockJumps } from './clock-jumps.ts'
export { type Deadline, Deadlines } from './deadlines.ts'
export { Heap } from './heap.ts'
export { isBodyHeldBack } from './held-body.ts'
export { Histogram } from './histogram.ts'
export type { Logger } from './logger.ts'
export { ManualClock } from './manual-clock.ts'
export { orAborted } from './or-aborted.ts'
export { Queue } from './queue.ts'
export { RateLimiter, type RequestRate } from './rate-limiter.ts'
export { ReaderThread, type ReaderThreadOptions } from './reader-thread.ts'
export { ReleasingMap } from './releasing-map.ts'
export { requestId } from './request-id.ts'
export { randomFrom } from './seeded-random.ts'
export {
  answerCalls,
  CalledThreadError,
  type CallMap,
  notifyCaller,
  PortCalls,
  ThreadCalls,
  ThreadEndedError,
  Transferred,
} from './thread-calls.ts'
export { untilGone } from './until-gone.ts'
