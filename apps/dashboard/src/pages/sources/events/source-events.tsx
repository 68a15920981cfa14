import { useMemo } from 'react'
import { EventsOf } from '../../events/events-of.tsx'
import { NoEvents } from '../../events/no-events.tsx'
import type { SourceTabProps } from '../source-tab-props.ts'

/** The events of one source, past and live. */
export function SourceEvents({ source: { id } }: SourceTabProps) {
  const fixed = useMemo(() => ({ source: id }), [id])
  return <EventsOf fixed={fixed} empty={<NoEvents sourceId={id} />} />
}
