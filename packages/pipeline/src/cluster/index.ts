export { EXPIRY_REASON } from '../backlog/backlog-expiry.ts'
export { budgetWarning } from '../backlog/budget-warning.ts'
export { DeliveryStates, type StateSources } from '../delivery/delivery-state.ts'
export { DeadLetters } from '../events/dead-letters.ts'
export { partitionsOf } from '../following/configuration.ts'
export { Spans } from '../following/spans.ts'
export type { ShardState } from '../host/shard.ts'
export { LogScan, type ScannedLog } from '../jobs/log-scan.ts'
export { BudgetHolder } from './budget/budget-holder.ts'
export { BudgetOrders } from './budget/budget-orders.ts'
export { ClusterEventList } from './cluster-event-list.ts'
export { ClusterLive } from './cluster-live.ts'
export type { ClusterLog } from './cluster-log.ts'
export { DuplicateCounts } from './duplicates/duplicate-counts.ts'
export { OwnedMarks } from './duplicates/owned-marks.ts'
export type { HeldShard } from './held-shard.ts'
export { JobDesk } from './job-desk.ts'
export { JobLead } from './job-lead.ts'
export { isConfigured } from './owned-removals.ts'
export {
  OwnedShards,
  type OwnedShardsOptions,
  type ShardChange,
  type SpannedConfiguration,
} from './owned-shards.ts'
export { ShardJobs } from './shard-jobs.ts'
export type { ShardLease } from './shard-lease.ts'
export { StoredView, type StoredViewOptions } from './stored-view.ts'
export { Turns } from './turns.ts'
