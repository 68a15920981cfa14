import type { Journey, Stage } from '@millrace/api-types'
import type { EventType } from '@millrace/protocol/event'
import { durationText } from '@millrace/wording'
import { type FailurePlace, ownPlace } from '../../../components/code/failure-places.ts'
import { firstLine } from '../../../components/json/shown-text.ts'
import { waitingText } from '../../../components/time/waiting-text.ts'
import { traceTexts as texts } from '../../../texts.ts'

/** An action of the user for an outcome. */
export type TraceAction =
  | {
      readonly kind:
        | 'use-as-test'
        | 'show-payload'
        | 'send-now'
        | 'open-config'
        | 'open-destination'
        | 'open-rules'
        | 'test-bench'
    }
  | { readonly kind: 'open-code'; readonly place: FailurePlace | undefined }
  | { readonly kind: 'open-message'; readonly messageId: string }
  | { readonly kind: 'send-again'; readonly letterId: string }

interface Explained {
  readonly text: string
  readonly action?: TraceAction
}

export interface OutcomeFacts {
  readonly journey: Journey
  readonly eventType: EventType
  readonly acceptedAt: string
  /** Display name: `Webhook`. */
  readonly destinationType: string
  /** The code that ran, or each candidate. */
  readonly codeNames: readonly string[]
  /** The newest dead letter of this event here; undefined until it is loaded. */
  readonly letter: DeadLetterFacts | undefined
  readonly now: Date
}

export interface DeadLetterFacts {
  readonly id: string
  readonly stage: Stage
  readonly attempts: number
  readonly lastStatus: number | null
}

/** Why an event has this outcome, in a sentence, and what the user can do. @see contracts/dashboard.md §6, the table */
export function explained(facts: OutcomeFacts): Explained {
  const { journey } = facts
  const reason = journey.reason ?? ''
  switch (journey.outcome) {
    case 'delivered':
      return { text: deliveredText(facts), action: { kind: 'use-as-test' } }
    case 'filtered':
      return filtered(facts, reason)
    case 'dropped_by_transformation':
      return { text: texts.returnedNothing(namesOf(facts)), action: { kind: 'open-code', place: undefined } }
    case 'duplicate':
      return { text: texts.duplicate }
    case 'pending':
    case 'blocked':
    case 'throttled':
    case 'retrying':
      return waiting(facts)
    case 'dead_lettered':
      return dead(facts, reason)
    case 'discarded':
      return { text: texts.discarded(reason), action: { kind: 'send-now' } }
    case 'expired':
      return { text: texts.expired, action: { kind: 'send-now' } }
  }
}

function deliveredText({ journey, acceptedAt }: OutcomeFacts): string {
  const attempts = journey.requests.flatMap((request) => request.attempts)
  const last = attempts.findLast((attempt) => attempt.class === 'delivered')
  if (last === undefined) return 'Delivered.'
  const ms = Date.parse(last.at) + last.durationMs - Date.parse(acceptedAt)
  return texts.delivered(last.status, Math.max(...attempts.map(({ n }) => n)), durationText(ms))
}

function filtered({ destinationType, eventType }: OutcomeFacts, reason: string): Explained {
  switch (reason) {
    case 'integrations':
      return { text: texts.integrations, action: { kind: 'show-payload' } }
    case 'destination is disabled':
      return { text: texts.destinationDisabled, action: { kind: 'send-now' } }
    case 'device mode':
      return { text: texts.deviceMode, action: { kind: 'open-config' } }
    case 'message type not supported':
      return { text: texts.typeNotSupported(destinationType, eventType), action: { kind: 'open-config' } }
    case 'event filter':
      return { text: texts.eventFilter, action: { kind: 'open-config' } }
    case 'no connection rule':
      return { text: texts.noConnectionRule, action: { kind: 'open-rules' } }
    case 'consent denied':
      return { text: texts.consentDenied, action: { kind: 'show-payload' } }
    case 'consent missing':
      return { text: texts.consentMissing, action: { kind: 'open-config' } }
    case 'no mapping matches':
      return { text: texts.noMapping, action: { kind: 'open-config' } }
    default:
      return ruleReason(reason) ?? { text: `${reason}.`, action: { kind: 'open-config' } }
  }
}

function ruleReason(reason: string): Explained | undefined {
  const number = /^connection rule (\d+)$/.exec(reason)?.[1]
  return number === undefined ? undefined : { text: texts.connectionRule(number), action: { kind: 'open-rules' } }
}

/** The event may be due by now: then the sentence gives no reason for the wait. */
function waiting({ journey, now }: OutcomeFacts): Explained {
  const { waiting: why } = journey
  if (why === undefined) return { text: texts.pending }
  const text = `${waitingText(why, now.getTime())}.`
  if (why.cause === 'order' && why.blockedBy !== null) {
    return { text, action: { kind: 'open-message', messageId: why.blockedBy } }
  }
  return why.cause === 'turn' || why.cause === 'sending' ? { text } : { text, action: { kind: 'open-destination' } }
}

function dead(facts: OutcomeFacts, reason: string): Explained {
  const { letter } = facts
  // The dead letter contains the stage; until it is loaded, the reason must suffice.
  if (letter === undefined) return { text: firstLine(reason) }
  switch (letter.stage) {
    case 'user_transformation':
      return {
        text: texts.codeFailed(namesOf(facts), firstLine(reason)),
        action: { kind: 'open-code', place: ownPlace(reason) },
      }
    case 'dest_transformation':
      return { text: texts.noRequest(firstLine(reason)), action: { kind: 'test-bench' } }
    case 'internal':
      return { text: texts.internal(firstLine(reason)), action: { kind: 'send-again', letterId: letter.id } }
    case 'delivery':
      return {
        text: texts.givenUp(letter.attempts, firstLine(reason), letter.lastStatus),
        action: { kind: 'send-again', letterId: letter.id },
      }
  }
}

function namesOf({ codeNames }: OutcomeFacts): string {
  return codeNames.length === 0 ? 'The transformation' : codeNames.join(' or ')
}
