export { type ServedShard, serveShard, tellHost } from './serve-shard.ts'
export type { HostCalls } from './shard-calls.ts'
