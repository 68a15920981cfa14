export type { ClusterLog } from './cluster-log.ts'
export {
  isConfigured,
  type OwnedShard,
  OwnedShards,
  type OwnedShardsOptions,
  type ShardChange,
  type SpannedConfiguration,
} from './owned-shards.ts'
export type { ShardLease } from './shard-lease.ts'
export { StoredView, type StoredViewOptions } from './stored-view.ts'
