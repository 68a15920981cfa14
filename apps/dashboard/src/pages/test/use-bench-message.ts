import { useEffect, useMemo, useState } from 'react'
import {
  isNamed,
  messageOrExample,
  useMessageOrigins,
  useNamedMessage,
} from '../../components/message-origin/use-message-origins.ts'
import type { SetSearch } from '../../shell/search-values.ts'
import type { BenchSearch, benchSearch } from './bench-search.ts'
import type { BenchTarget, Workspace } from './bench-target.ts'
import { readMessage } from './message-text.ts'

interface MessageAsked {
  readonly workspace: Workspace
  readonly target: BenchTarget | undefined
  readonly search: BenchSearch
  readonly set: SetSearch<typeof benchSearch>
}

const EXAMPLE = { type: 'track', userId: 'u-4711', event: 'Seat Reserved', properties: { hall: 'B', seats: 2 } }

/** The message of a run: written here, or named by the link, which names the newest event by default. */
export function useBenchMessage({ workspace, target, search, set }: MessageAsked) {
  const origins = useMessageOrigins({ ...originsOf(target, workspace), isEnabled: target !== undefined })
  const named = useNamedMessage(search)
  const hasName = isNamed(search)
  const newest = origins.recent[0]?.messageId
  useEffect(() => {
    if (!hasName && newest !== undefined) set({ event: newest })
  }, [hasName, newest, set])
  const [written, write] = useState<string>()
  const shown = messageOrExample(named, search, origins, EXAMPLE)
  const text = written ?? (shown === undefined ? '' : JSON.stringify(shown, null, 2))
  const read = useMemo(() => readMessage(text), [text])
  return {
    origins,
    /** The link names a message that has no payload any more. */
    isGone: named === null,
    text,
    write,
    read,
    message: 'message' in read ? read.message : undefined,
  }
}

function originsOf(target: BenchTarget | undefined, { connections }: Workspace) {
  if (target?.kind === 'source') return { sourceId: target.id, writeKey: target.source.writeKey }
  const id = target?.id ?? ''
  return { destinationId: id, feedingSourceId: connections.find((each) => each.destinationId === id)?.sourceId }
}
