import { useMemo } from 'react'
import { Empty } from '../../../components/states/empty.tsx'
import { EventsOf } from '../../events/events-of.tsx'
import type { DestinationTabProps } from '../destination-tab-props.ts'

/** The events that had to do with one destination, past and live. */
export function DestinationEvents({ destination: { id } }: DestinationTabProps) {
  const fixed = useMemo(() => ({ destination: id }), [id])
  return <EventsOf fixed={fixed} empty={<Empty text="No events yet." />} />
}
