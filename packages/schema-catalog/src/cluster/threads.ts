export { type CopyThreadData, serveCopy } from './serve-copy.ts'
export { type CounterThreadData, serveCounter } from './serve-counter.ts'
