export { type ServedShard, serveShard, tellHost } from './serve-shard.ts'
