export { KEY_KINDS, type KeyKind, KeyMemory } from './key-memory.ts'
export { type KeyEntries, ShardKeys } from './shard-keys.ts'
