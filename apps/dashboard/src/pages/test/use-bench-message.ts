import type { JsonObject } from '@millrace/protocol/json'
import { useEffect } from 'react'
import { type DeadLetter, useDeadLetter, useDeadLetters } from '../../api/dead-letters.ts'
import { type ListedEvent, useEventPayload, useRecentEvents } from '../../api/events.ts'
import { type EventModel, useEventModels, useModelSample } from '../../api/schemas.ts'
import type { SetSearch } from '../../shell/search-values.ts'
import type { BenchSearch, benchSearch } from './bench-search.ts'
import type { BenchTarget } from './bench-target.ts'

/** Of each kind. */
const MOST = 20

/** Where a message may come from, newest first. */
export interface MessageOrigins {
  readonly recent: readonly ListedEvent[]
  readonly deadLetters: readonly DeadLetter[]
  readonly models: readonly EventModel[]
  /** No event ever came this way. */
  readonly isEmpty: boolean
}

export function useMessageOrigins(target: BenchTarget | undefined): MessageOrigins {
  const isEnabled = target !== undefined
  const of = target?.kind === 'source' ? { sourceId: target.id } : { destinationId: target?.id ?? '' }
  const writeKey = target?.kind === 'source' ? { writeKey: target.source.writeKey } : {}
  const recent = useRecentEvents({ ...of, limit: MOST }, { isEnabled })
  const dead = useDeadLetters({ ...of, limit: MOST }, { isEnabled })
  const models = useEventModels(writeKey, { isEnabled })
  return {
    recent: recent.data ?? [],
    deadLetters: dead.data?.pages[0]?.elements ?? [],
    models: (models.data ?? []).slice(0, MOST),
    isEmpty: recent.data?.length === 0,
  }
}

/**
 * The message that the link names; at first the newest event of the target.
 *
 * @returns undefined while it is read and when none is named; null when it has no payload any more.
 */
export function useNamedMessage(
  search: BenchSearch,
  set: SetSearch<typeof benchSearch>,
  newest: string | undefined,
): JsonObject | null | undefined {
  const { event, dead, sample } = search
  const isNamed = event !== undefined || dead !== undefined || sample !== undefined
  useEffect(() => {
    if (!isNamed && newest !== undefined) set({ event: newest })
  }, [isNamed, newest, set])
  const ofEvent = useEventPayload(event)
  const ofDead = useDeadLetter(event === undefined ? dead : undefined)
  const ofModel = useModelSample(event === undefined && dead === undefined ? sample : undefined)
  if (event !== undefined) return ofEvent.isError ? null : ofEvent.data
  if (dead !== undefined) return ofDead.isError ? null : ofDead.data?.event
  return ofModel.isError ? null : ofModel.data
}
