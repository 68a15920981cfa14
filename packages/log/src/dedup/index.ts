export { MAX_DEDUP_ENTRIES } from './dedup-window.ts'
export { KEY_KINDS, type KeyKind, KeyMemory } from './key-memory.ts'
export { type KeyEntries, keyCount, ShardKeys } from './shard-keys.ts'
