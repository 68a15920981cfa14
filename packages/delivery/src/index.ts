export { JUDGED_ANSWER_BYTES } from './failure/classify.ts'
export { noAnswerText } from './lane/attempts/wait-cause.ts'
export { deadLetterOf } from './lane/history/event-writes.ts'
export type { Attempt, RequestHistory, ShownRequest } from './lane/history/request-history.ts'
export { Lane } from './lane/lane.ts'
export type { LaneClient, LaneOptions, LaneSettings } from './lane/lane-options.ts'
export type { LaneStatus } from './lane/lane-status.ts'
export { LocalMemoryBudget, type MemoryBudget, SharedMemoryBudget } from './lane/memory-budget.ts'
export type { BatchPart, Classify, Joiner, OwnEnd, Prepared, ReadyRequests } from './lane/prepared.ts'
export type { EventPlace } from './lane/queue/event-place.ts'
export { LaneEvent, REPLAY_STREAM, type Replayed } from './lane/queue/lane-event.ts'
export { isBefore, type Position } from './lane/queue/position.ts'
export type { Transform } from './lane/transform.ts'
export type { Transformed } from './lane/transformed.ts'
export type { DestinationLimits, LaneLimits, LimitSettings } from './limits/destination-limits.ts'
export { LocalDestinationLimits } from './limits/local-limits.ts'
export { newSharedLimits, openSharedLimits } from './limits/shared-limits.ts'
export { codeRequest, type IssuedCode, issuedRefreshToken } from './outbound/credentials/authorization-code.ts'
export { OAuthTokens } from './outbound/credentials/oauth-tokens.ts'
export { type OutboundCredentials, outboundCredentials } from './outbound/credentials/outbound-credentials.ts'
export { type SharedTokens, TokenExchange } from './outbound/credentials/token-exchange.ts'
export { type EgressEntry, parseEgressList } from './outbound/egress-list.ts'
export { EgressRules, isLoopbackHost } from './outbound/egress-rules.ts'
export { type Failure, TIMED_OUT } from './outbound/failures.ts'
export { HostNames, type Lookup } from './outbound/names/host-names.ts'
export { OutboundClient } from './outbound/outbound-client.ts'
export {
  type OutboundCall,
  type OutboundRequest,
  type OutboundResult,
  unlessLost,
} from './outbound/outbound-request.ts'
export {
  addedDurations,
  DURATION_BUCKETS,
  type DurationCounts,
  durationBucket,
  durationPercentiles,
  durationsSince,
} from './pace/duration-counts.ts'
export { recentPercentiles } from './pace/latency-window.ts'
export type { BacklogRow, BacklogStore, KeptRecord } from './store/backlog-store.ts'
export type { BudgetFigures, BudgetState, BudgetStore, HeldBytes } from './store/budget-store.ts'
export type { Scope } from './store/dead-letter-store.ts'
export {
  DEAD_LETTER_STATES,
  type DeadLetterFilter,
  type DeadLetterGroup,
  type DeadLetterRow,
  type DeadLetterStore,
} from './store/dead-letter-store.ts'
export type { DeliveryStore, ShardStore } from './store/delivery-store.ts'
export type {
  DecidedRange,
  DuplicateStore,
  KeyPart,
  ShardDecisions,
  StoredDuplicates,
} from './store/duplicate-store.ts'
export {
  JOB_STATES,
  type Job,
  type JobKind,
  type JobOver,
  type JobPart,
  type JobState,
  type JobStore,
  type LetterSelection,
  type LogSelection,
  type PartPlace,
  type TakeLetters,
} from './store/job-store.ts'
export { MAX_GROUPS } from './store/letters/letter-limits.ts'
export { findInEntries, HASH_ENTRY_BYTES, type MessageStore } from './store/message-store.ts'
export type { EventPlaceKey, OutcomeStore, PartitionOffset, RangeWrite, Recorded } from './store/outcome-store.ts'
export { outcomeOfDeadLetter } from './store/outcomes/dead-letter-outcome.ts'
export type { BlockWrite, JourneyWrite, PositionWrite } from './store/outcomes/flush.ts'
export { STAGES, type Stage } from './store/outcomes/flush.ts'
export { LaneOutcomes } from './store/outcomes/lane-outcomes.ts'
export { type FilterReason, filteredEntries } from './store/outcomes/outcome-block.ts'
export {
  type OutcomesOfEvents,
  outcomePortData,
  outcomesBehind,
  type RecordedOutcome,
  type SoughtEvent,
} from './store/outcomes/outcomes-of-events.ts'
export { INTERNAL_ERROR } from './store/outcomes/replaced-rows.ts'
export type { PlaceStore } from './store/place-store.ts'
export { type RunBefore, type RunStore, type ShardRuns, UNCLEAN_WITHIN_MS, type UnderWay } from './store/run-store.ts'
export { FencedError, type ShardFence } from './store/shard-fence.ts'
export type { DestinationFigures, FigureStore, ShardFigures } from './store/shard-figures.ts'
export type { Span, SpanStore } from './store/span-store.ts'
export { ConnectedDeliveryStore } from './store/sqlite/connected-delivery-store.ts'
export { alignDeliveryCopy, type CopiedMoment } from './store/sqlite/database-copy.ts'
export { SqliteDeliveryStore } from './store/sqlite/sqlite-delivery-store.ts'
export type { StatisticsStore, StatsReason, StatsRow, SubjectKind } from './store/statistics-store.ts'
