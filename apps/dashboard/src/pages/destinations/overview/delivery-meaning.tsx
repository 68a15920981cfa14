import type { DeliveryState } from '@millrace/api-types'
import { grouped } from '@millrace/wording'
import type { ReactNode } from 'react'
import { waitingOf } from '../../../api/destinations.ts'
import { serverNow } from '../../../api/requests/server-clock.ts'
import { Figure, Figures } from '../../../components/figures/figure.tsx'
import { bytesText, shortNumber } from '../../../components/figures/figure-text.ts'
import { StateMark } from '../../../components/state-mark.tsx'
import { useClock } from '../../../components/states/use-clock.ts'
import { Time } from '../../../components/time/time.tsx'
import { waitingText } from '../../../components/time/waiting-text.ts'
import { destinationTexts, homeTexts } from '../../../texts.ts'
import styles from '../destinations.module.css'

interface DeliveryMeaningProps {
  readonly delivery: DeliveryState
  readonly isEnabled: boolean
}

/** The state of the moment in figures, and what it means for the events. */
export function DeliveryMeaning({ delivery, isEnabled }: DeliveryMeaningProps) {
  const { deadLettersOpen, destinationId, latencyMs, oldestPendingAt, backlogBytes, delivered24h } = delivery
  const waiting = waitingOf(delivery)
  // Of waiting and dead events together.
  const kept = bytesText(backlogBytes)
  return (
    <>
      {isEnabled ? <Trouble delivery={delivery} /> : <Off waiting={waiting} />}
      <Figures>
        <Figure label="Delivered in 24 h" value={shortNumber(delivered24h)} />
        <Figure
          label="Waiting"
          value={shortNumber(waiting)}
          meta={
            oldestPendingAt === null ? undefined : (
              <>
                since <Time at={oldestPendingAt} />
                {deadLettersOpen === 0 && `, ${kept}`}
              </>
            )
          }
        />
        <Figure
          label="Dead"
          value={shortNumber(deadLettersOpen)}
          meta={deadLettersOpen === 0 ? undefined : waiting === 0 ? kept : `${kept} with waiting events`}
          tone={deadLettersOpen > 0 ? 'bad' : 'plain'}
          to="/dead-letters"
          search={{ destinationId }}
        />
        <Figure
          label="Latency, p95"
          value={latencyMs.p95 === null ? '–' : `${grouped(Math.round(latencyMs.p95))} ms`}
          meta={latencyMs.p99 === null ? undefined : `p99 ${grouped(Math.round(latencyMs.p99))} ms`}
        />
      </Figures>
    </>
  )
}

function Off({ waiting }: { readonly waiting: number }) {
  return (
    <Notice mark={<StateMark kind="off">{homeTexts.off}</StateMark>}>
      {waiting > 0 ? destinationTexts.waitingStay(waiting) : 'Nothing is sent. Test it with an event, then enable it.'}
    </Notice>
  )
}

function Trouble({ delivery }: { readonly delivery: DeliveryState }) {
  const { state, hotId, waiting } = delivery
  const now = useClock(waiting !== null) + serverNow() - Date.now()
  const why = waiting === null ? delivery.statusText : `${waitingText(waiting, now)}.`
  if (state === 'unauthorised') {
    return (
      <Notice mark={<StateMark kind="failed">{homeTexts.unauthorised}</StateMark>} detail={why}>
        {destinationTexts.unauthorisedMeaning}
      </Notice>
    )
  }
  if (state === 'resting') {
    return (
      <Notice mark={<StateMark kind="resting">{homeTexts.resting}</StateMark>} detail={why}>
        Failing: events wait, nothing is lost, one probe every 30 seconds.
      </Notice>
    )
  }
  if (hotId === null && waiting !== null)
    return <Notice mark={<StateMark kind="behind">waiting</StateMark>}>{why}</Notice>
  if (hotId === null) return null
  return (
    <Notice mark={<StateMark kind="behind">behind one user</StateMark>}>
      {grouped(hotId.waiting)} events wait behind {hotId.id}.
    </Notice>
  )
}

interface NoticeProps {
  readonly mark: ReactNode
  readonly detail?: string | null
  readonly children: ReactNode
}

function Notice({ mark, detail = null, children }: NoticeProps) {
  return (
    <div className={styles.notice} role="status">
      <div className={styles.stateLine}>
        {mark}
        <span>{children}</span>
      </div>
      {detail !== null && <div className={styles.dim}>{detail}</div>}
    </div>
  )
}
