export type { AnswerClass, BatchOutcome, Judgement } from './answer-class.ts'
export { byteForms } from './byte-forms.ts'
export { type ConsentAnswer, type ConsentRequirement, consentAnswer } from './consent.ts'
export { setDeliveryTimes } from './delivery-times.ts'
export { type StoredBatch, storedEvents } from './enrich.ts'
export { type EnvelopeMembers, envelopeMembers, mergedMembers } from './envelope.ts'
export { EVENT_TYPES, type EventType, eventName, isEventType, type StoredEvent } from './event.ts'
export { normalizedId } from './event-id.ts'
export { hash53, writeHash64 } from './hash.ts'
export {
  isJsonObject,
  isNestedDeeper,
  type JsonObject,
  type JsonValue,
  memberPath,
  ownMember,
  setMember,
} from './json.ts'
export { derivedMessageId, messageHash, messageIdOf } from './message-id.ts'
export type { Authorization, ClientCertificate, TokenGrant } from './outbound-credentials.ts'
export { pixelEvent, pixelNesting } from './pixel.ts'
export { type EventPosition, formatPosition } from './position.ts'
export {
  decodeRecord,
  ENRICHMENT_RULES,
  type EventRecord,
  encodedSize,
  encodeRecord,
  eventCount,
  MESSAGE_HASH_BYTES,
  RecordFormatError,
  type RecordHeader,
  type Route,
  SEED_BYTES,
} from './record.ts'
export { base62, resourceId } from './resource-id.ts'
export { CompiledRules } from './rules/compiled-rules.ts'
export {
  type ConnectionRule,
  type ConnectionRules,
  NAME_MATCHES,
  OPERATORS,
  RULE_ACTIONS,
  RULE_LIMITS,
  type RuleAction,
  type RuleCondition,
  type RuleEvents,
  type RuleOperator,
  type RuleReason,
  type RuleValue,
} from './rules/connection-rules.ts'
export { RuleFaultError, readRules } from './rules/read-rules.ts'
export { OPERATOR_TEXTS, ruleText } from './rules/rule-text.ts'
export { formatTime, parseTime } from './time.ts'
export { type WebhookPaths, webhookBody, webhookEvents } from './webhook.ts'
