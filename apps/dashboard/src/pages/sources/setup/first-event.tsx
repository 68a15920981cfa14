import { Anchor, Button } from '@mantine/core'
import type { Source } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useRecentEvents } from '../../../api/events.ts'
import { sendEvent } from '../../../api/ingest.ts'
import { ApiError } from '../../../api/requests/client.ts'
import { useRefusals } from '../../../api/sources.ts'
import { useTail } from '../../../api/tail.ts'
import type { TailMessage } from '../../../api/tail-messages.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import { Time } from '../../../components/time/time.tsx'
import { localTime } from '../../../components/time/time-text.ts'
import { sourceTexts } from '../../../texts.ts'
import styles from '../sources.module.css'

/** Before the first event the user waits for it: a refusal appears within 2 s (contracts/dashboard.md §15 item 10). */
const WAITING_POLL_MS = 1_500
const MAX_REFUSALS = 3
const SAMPLE: JsonObject = { userId: 'u-4711', event: 'Seat Reserved', properties: { hall: 'B', row: 4, seats: 2 } }

interface Arrived {
  readonly messageId: string
  readonly acceptedAt: string
  readonly type: string
  readonly name: string | null
}

/** Shows whether an event has arrived from this source, as soon as it does. */
export function FirstEvent({ source }: { readonly source: Source }) {
  const [openedAt] = useState(() => new Date().toISOString())
  const [live, setLive] = useState<Arrived>()
  const recent = useRecentEvents({ sourceId: source.id, limit: 1 })
  const arrived = live ?? recent.data?.[0]
  const wasEmpty = useRef(false)
  if (recent.data?.length === 0) wasEmpty.current = true
  // Until it is loaded, the page must not claim that no event has arrived.
  const isWaiting = arrived === undefined && !recent.isPending
  const onMessages = (messages: readonly TailMessage[]) => {
    const first = messages.find((message) => message.kind === 'accepted')
    if (first !== undefined) setLive((before) => before ?? first)
  }
  useTail({ sourceId: source.id }, onMessages, { isOpen: arrived === undefined })
  const refusals = useRefusals({}, arrived === undefined ? { pollMs: WAITING_POLL_MS } : {})
  const shown = (refusals.data ?? [])
    .filter(({ sourceId, at }) => (sourceId === null || sourceId === source.id) && at >= openedAt)
    .slice(0, MAX_REFUSALS)
  const sample = useMutation({
    mutationFn: async () => {
      const messageId = `sample-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`
      await sendEvent(source.writeKey, 'track', { ...SAMPLE, messageId })
      return { messageId, at: new Date().toISOString() }
    },
  })

  return (
    <section className={styles.panel}>
      <div className={styles.arrival} role="status">
        {isWaiting && <StateMark kind="waiting">{sourceTexts.waiting}</StateMark>}
        {arrived !== undefined && <FirstArrived event={arrived} isFirst={wasEmpty.current} />}
        {shown.map(({ at, status, text, keyStart }) => (
          <p key={`${at} ${keyStart}`} className={styles.refusedLine}>
            <StateMark kind="refused">{`${status} ${text}`}</StateMark>
            <span className={styles.dim}>
              key {keyStart}… · <Time at={at} />
            </span>
          </p>
        ))}
        {sample.data !== undefined && <SampleAccepted {...sample.data} />}
        {sample.error !== null && <SampleFailed error={sample.error} />}
      </div>
      {/* Webhooks may need a signature, and their source accepts no other events. */}
      {source.config.webhook === undefined && (
        <Button variant="default" loading={sample.isPending} disabled={!source.enabled} onClick={() => sample.mutate()}>
          {sourceTexts.sendSample}
        </Button>
      )}
    </section>
  )
}

function SampleAccepted({ messageId, at }: { readonly messageId: string; readonly at: string }) {
  return (
    <p className={styles.arrivedLine}>
      <StateMark kind="ok">{sourceTexts.sampleAccepted(localTime(new Date(at), new Date(), 'second'))}</StateMark>
      <Anchor component={Link} to="/events/$messageId" params={{ messageId } as never}>
        Trace
      </Anchor>
    </p>
  )
}

/** A failed connection is not a refusal, and has its own text. */
function SampleFailed({ error }: { readonly error: Error }) {
  const isAway = error instanceof ApiError && error.kind === 'connection'
  return isAway ? <StateMark kind="failed">{sourceTexts.sampleUnanswered}</StateMark> : <Refusal error={error} />
}

function FirstArrived({ event, isFirst }: { readonly event: Arrived; readonly isFirst: boolean }) {
  const { messageId, acceptedAt, type, name } = event
  return (
    <p className={styles.arrivedLine}>
      <StateMark kind="ok">
        {isFirst ? sourceTexts.arrived(type, name ?? '') : `Last event: ${[type, name].filter(Boolean).join(' ')}.`}
      </StateMark>
      <span className={styles.dim}>
        <Time at={acceptedAt} />
      </span>
      <Anchor component={Link} to="/events/$messageId" params={{ messageId } as never}>
        Trace
      </Anchor>
    </p>
  )
}
