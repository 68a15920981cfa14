export type { HostCalls } from './calls.ts'
export { type ServedShard, serveShard, tellHost } from './serve-shard.ts'
