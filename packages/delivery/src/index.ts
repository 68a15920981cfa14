export { JUDGED_ANSWER_BYTES } from './classify.ts'
export type { Attempt, RequestHistory, ShownRequest } from './delivery-history.ts'
export { deadLetterOf } from './event-writes.ts'
export { Lane } from './lane.ts'
export { type EventPlace, LaneEvent, REPLAY_STREAM, type Replayed } from './lane-event.ts'
export type { Classify, LaneOptions, LaneSettings, Prepared } from './lane-options.ts'
export { LatencyWindow } from './latency-window.ts'
export { MemoryBudget } from './memory-budget.ts'
export { type EgressEntry, parseEgressList } from './outbound/egress-list.ts'
export { EgressRules, isLoopbackHost } from './outbound/egress-rules.ts'
export { type Failure, TIMED_OUT } from './outbound/failures.ts'
export { HostNames, type Lookup } from './outbound/names/host-names.ts'
export { OutboundClient } from './outbound/outbound-client.ts'
export type { OutboundRequest, OutboundResult } from './outbound/outbound-request.ts'
export type { Position } from './progress.ts'
export {
  type BacklogRow,
  type BlockWrite,
  DEAD_LETTER_STATES,
  type DeadLetterFilter,
  type DeadLetterGroup,
  type DeadLetterRow,
  type EventPlaceKey,
  type JourneyWrite,
  type KeptRecord,
  type RangeWrite,
  type Recorded,
  type Scope,
  type Span,
  STAGES,
  type StatsReason,
  type StatsRow,
  type SubjectKind,
} from './store/calls.ts'
export { alignDeliveryCopy, type CopiedMoment } from './store/database-copy.ts'
export { outcomeOfDeadLetter } from './store/dead-letter-outcome.ts'
export { DeliveryStore } from './store/delivery-store.ts'
export {
  JOB_STATES,
  type Job,
  type JobCalls,
  type JobKind,
  type JobOver,
  type JobPart,
  type JobState,
  type LetterSelection,
  type LogSelection,
  type PartPlace,
} from './store/job.ts'
export type { LaneOutcomes } from './store/lane-outcomes.ts'
export { MAX_GROUPS } from './store/letter-groups.ts'
export { findInEntries, HASH_ENTRY_BYTES } from './store/message-hashes.ts'
export { type FilterReason, filteredEntries } from './store/outcome-block.ts'
export { OutcomeReader, type RecordedOutcome, type SoughtEvent } from './store/outcome-reader.ts'
export { INTERNAL_ERROR } from './store/replaced-rows.ts'
export { type RunBefore, UNCLEAN_WITHIN_MS, type UnderWay } from './store/run-table.ts'
export type { Transform, Transformed } from './transformed.ts'
