import type { DeadLetter, EventModelWithExtras, ListedEvent } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { type DeadLetterFilters, useDeadLetter, useDeadLetters } from '../../api/dead-letters.ts'
import { useEventPayload, useRecentEvents } from '../../api/events.ts'
import { useEventModels, useModelSample } from '../../api/schemas.ts'

/** Of each kind. */
const MOST = 20
/** Who tries code sends events meanwhile. */
const POLL_MS = 10_000

/** Where a message for a trial may come from, newest first. */
export interface MessageOrigins {
  readonly recent: readonly ListedEvent[]
  readonly deadLetters: readonly DeadLetter[]
  readonly models: readonly EventModelWithExtras[]
  /** No event ever came this way. */
  readonly isEmpty: boolean
}

interface OriginsAsked extends Pick<DeadLetterFilters, 'sourceId' | 'destinationId' | 'stage'> {
  /** Of the source whose models give samples; of all when left out. */
  readonly writeKey?: string
  /** Connected to a destination that is so new that nothing has come to it: its events stand in. */
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

/** Names a message in a link, which holds no payload itself. */
export interface MessageName {
  /** messageId of an accepted event. */
  readonly event?: string
  /** Id of a dead letter. */
  readonly dead?: string
  /** EventID of a model, for its newest sample. */
  readonly sample?: string
}

/** @returns undefined while it is read and when none is named; null when it has no payload any more. */
export function useNamedMessage({ event, dead, sample }: MessageName): JsonObject | null | undefined {
  const ofEvent = useEventPayload(event)
  const ofDead = useDeadLetter(event === undefined ? dead : undefined)
  const ofModel = useModelSample(event === undefined && dead === undefined ? sample : undefined)
  if (event !== undefined) return ofEvent.isError ? null : ofEvent.data
  if (dead !== undefined) return ofDead.isError ? null : ofDead.data?.event
  return ofModel.isError ? null : ofModel.data
}
