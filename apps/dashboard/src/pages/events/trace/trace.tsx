import type { EventTrace, Journey } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useEventTrace } from '../../../api/events.ts'
import { ApiError } from '../../../api/requests/client.ts'
import { JsonView } from '../../../components/json/json-view.tsx'
import { lazyPart } from '../../../components/lazy-part.ts'
import { ShownId } from '../../../components/shown-id.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { Time } from '../../../components/time/time.tsx'
import { byUrgency } from '../outcome-words.ts'
import { JourneyLane } from './journey-lane.tsx'
import { OtherLanes } from './other-lanes.tsx'
import styles from './trace.module.css'
import { type TraceNames, useTraceNames } from './use-trace-names.ts'

const UnknownEvent = lazyPart(() =>
  import('./unknown-event.tsx').then(({ UnknownEvent }) => ({ default: UnknownEvent })),
)

interface TraceProps {
  readonly messageId: string
  /** On its own page the payload is beside the lanes. */
  readonly isWide?: boolean
}

/** Acceptance, then a lane per destination: undelivered first. */
export function Trace({ messageId, isWide = false }: TraceProps) {
  const reading = useEventTrace(messageId)
  const names = useTraceNames()
  const { error } = reading
  if (error instanceof ApiError && error.kind === 'missing') {
    return (
      <Suspense>
        <UnknownEvent messageId={messageId} />
      </Suspense>
    )
  }
  return (
    <Shown of={reading}>
      {(events) => (
        <>
          {events.length > 1 && (
            <p className={styles.several}>{events.length} events with this messageId were accepted.</p>
          )}
          {events.map((event) => (
            <AcceptedEvent key={event.position} trace={event} names={names} isWide={isWide} />
          ))}
        </>
      )}
    </Shown>
  )
}

interface AcceptedEventProps {
  readonly trace: EventTrace
  readonly names: TraceNames
  readonly isWide: boolean
}

function AcceptedEvent({ trace, names, isWide }: AcceptedEventProps) {
  const [payload, setPayload] = useState<HTMLElement | null>(null)
  const { sourceId, acceptedAt, position, event, destinations } = trace
  const showPayload = () => {
    payload?.scrollIntoView({ block: 'start' })
    payload?.querySelector<HTMLElement>('section')?.focus({ preventScroll: true })
  }
  return (
    <article className={styles.trace} data-wide={isWide || undefined}>
      <div className={styles.course}>
        <dl className={styles.facts}>
          <div>
            <dt>Event</dt>
            <dd>{eventTitle(event)}</dd>
          </div>
          <div>
            <dt>Accepted</dt>
            <dd>
              <Time at={acceptedAt} precision="millisecond" />
            </dd>
          </div>
          <div>
            <dt>Source</dt>
            <dd>
              <Link to={`/sources/${sourceId}`}>{names.sourceName(sourceId)}</Link>
            </dd>
          </div>
          <div>
            <dt>Position</dt>
            <dd>
              <ShownId id={position} what="position" />
            </dd>
          </div>
        </dl>
        <div className={styles.lanes}>
          {[...destinations].sort(byUrgency).map((journey) => (
            <JourneyLane
              key={laneKey(destinations, journey)}
              journey={journey}
              trace={trace}
              names={names}
              onShowPayload={showPayload}
            />
          ))}
          <OtherLanes trace={trace} names={names} />
        </div>
      </div>
      <section ref={setPayload} className={styles.payload}>
        <p className={styles.heading}>Payload</p>
        <JsonView value={event} what="event" />
      </section>
    </article>
  )
}

function eventTitle(event: EventTrace['event']): string {
  const name = event['type'] === 'track' ? event['event'] : event['name']
  return [event['type'], name].filter((part) => typeof part === 'string' && part !== '').join(' · ')
}

/** A delivery that continues in a replay keeps its lane, and stays open. */
function laneKey(journeys: EventTrace['destinations'], { destinationId, ...journey }: Journey): string {
  const own = journeys.filter((each) => each.destinationId === destinationId)
  return `${destinationId} ${own.findIndex(({ replayId }) => replayId === journey.replayId)}`
}
