export { JUDGED_ANSWER_BYTES } from './failure/classify.ts'
export type { Attempt, RequestHistory, ShownRequest } from './lane/delivery-history.ts'
export { deadLetterOf } from './lane/event-writes.ts'
export { Lane } from './lane/lane.ts'
export { type EventPlace, LaneEvent, REPLAY_STREAM, type Replayed } from './lane/lane-event.ts'
export type { Classify, LaneOptions, LaneSettings, Prepared } from './lane/lane-options.ts'
export { MemoryBudget } from './lane/memory-budget.ts'
export type { Position } from './lane/progress.ts'
export type { Transform, Transformed } from './lane/transformed.ts'
export { type EgressEntry, parseEgressList } from './outbound/egress-list.ts'
export { EgressRules, isLoopbackHost } from './outbound/egress-rules.ts'
export { type Failure, TIMED_OUT } from './outbound/failures.ts'
export { HostNames, type Lookup } from './outbound/names/host-names.ts'
export { OutboundClient } from './outbound/outbound-client.ts'
export type { OutboundRequest, OutboundResult } from './outbound/outbound-request.ts'
export { LatencyWindow } from './pace/latency-window.ts'
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
} from './store/jobs/job.ts'
export { outcomeOfDeadLetter } from './store/letters/dead-letter-outcome.ts'
export { MAX_GROUPS } from './store/letters/letter-groups.ts'
export { findInEntries, HASH_ENTRY_BYTES } from './store/message-hashes.ts'
export type { LaneOutcomes } from './store/outcomes/lane-outcomes.ts'
export { type FilterReason, filteredEntries } from './store/outcomes/outcome-block.ts'
export { OutcomeReader, type RecordedOutcome, type SoughtEvent } from './store/outcomes/outcome-reader.ts'
export { INTERNAL_ERROR } from './store/outcomes/replaced-rows.ts'
export { type RunBefore, UNCLEAN_WITHIN_MS, type UnderWay } from './store/run-table.ts'
