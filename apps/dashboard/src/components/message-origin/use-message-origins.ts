import type { DeadLetter, EventModelWithExtras, ListedEvent } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { type DeadLetterFilters, useDeadLetter, useDeadLetters } from '../../api/dead-letters.ts'
import { useEventPayload, useRecentEvents } from '../../api/events.ts'
import { useEventModels, useModelSample } from '../../api/schemas.ts'

/** Maximum of each kind. */
const MOST = 20
/** A user who tests code sends events meanwhile. */
const POLL_MS = 10_000

/** Sources of test messages, newest first. */
export interface MessageOrigins {
  readonly recent: readonly ListedEvent[]
  readonly deadLetters: readonly DeadLetter[]
  readonly models: readonly EventModelWithExtras[]
  /** No event has arrived here yet. */
  readonly isEmpty: boolean
}

interface OriginsAsked extends Pick<DeadLetterFilters, 'sourceId' | 'destinationId' | 'stage'> {
  /** The source whose models provide samples; undefined: all. */
  readonly writeKey?: string
  /** Sources connected to a new destination without events: their events are offered instead. */
  readonly feedingSourceId?: string | undefined
  readonly isEnabled: boolean
}

export function useMessageOrigins({
  isEnabled,
  stage,
  writeKey,
  feedingSourceId,
  ...of
}: OriginsAsked): MessageOrigins {
  const own = useRecentEvents({ ...of, limit: MOST }, { isEnabled, pollMs: POLL_MS })
  const isNew = own.data?.length === 0 && feedingSourceId !== undefined
  const fed = useRecentEvents({ sourceId: feedingSourceId ?? '', limit: MOST }, { isEnabled: isNew })
  const recent = isNew ? fed : own
  const dead = useDeadLetters({ ...of, ...(stage === undefined ? {} : { stage }), limit: MOST }, { isEnabled })
  const models = useEventModels(writeKey === undefined ? {} : { writeKey }, { isEnabled })
  return {
    recent: recent.data ?? [],
    deadLetters: dead.data?.pages[0]?.elements ?? [],
    models: (models.data ?? []).slice(0, MOST),
    isEmpty: recent.data?.length === 0,
  }
}

/** Identifies a message in a link, which contains no payload. */
export interface MessageName {
  /** messageId of an accepted event. */
  readonly event?: string
  /** Id of a dead letter. */
  readonly dead?: string
  /** EventID of a model, for its newest sample. */
  readonly sample?: string
}

export function isNamed({ event, dead, sample }: MessageName): boolean {
  return event !== undefined || dead !== undefined || sample !== undefined
}

/**
 * The named message, or the example if that message is no longer stored, or if no event has arrived that could be named.
 *
 * @returns undefined while it loads.
 */
export function messageOrExample(
  named: JsonObject | null | undefined,
  name: MessageName,
  { isEmpty }: MessageOrigins,
  example: JsonObject,
): JsonObject | undefined {
  return named ?? (named === null || (!isNamed(name) && isEmpty) ? example : undefined)
}

/** @returns undefined while it loads or if the link has none; null if its payload is gone. */
export function useNamedMessage({ event, dead, sample }: MessageName): JsonObject | null | undefined {
  const ofEvent = useEventPayload(event)
  const ofDead = useDeadLetter(event === undefined ? dead : undefined)
  const ofModel = useModelSample(event === undefined && dead === undefined ? sample : undefined)
  if (event !== undefined) return ofEvent.isError ? null : ofEvent.data
  if (dead !== undefined) return ofDead.isError ? null : ofDead.data?.event
  return ofModel.isError ? null : ofModel.data
}
