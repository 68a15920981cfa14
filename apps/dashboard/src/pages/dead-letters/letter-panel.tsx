import { Button } from '@mantine/core'
import type { DeadLetterWithPayloads, Stage } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useDeadLetter, useDiscardDeadLetter } from '../../api/dead-letters.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { JsonView } from '../../components/json/json-view.tsx'
import { shownText } from '../../components/json/shown-text.ts'
import { NeedsRole } from '../../components/needs-role.tsx'
import { ShownId } from '../../components/shown-id.tsx'
import { SidePanel } from '../../components/side-panel.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { Time } from '../../components/time/time.tsx'
import { AttemptRows } from '../events/trace/attempt-table.tsx'
import { SendAgain } from '../events/trace/send-again.tsx'
import { LetterCode } from './letter-code.tsx'
import styles from './letter-panel.module.css'

interface LetterPanelProps {
  readonly id: string
  readonly nameOf: (destinationId: string) => string
  readonly stageWord: (stage: Stage) => string
  readonly onClose: () => void
}

/** One dead letter, with the event, the last request and every stored attempt. */
export function LetterPanel({ id, nameOf, stageWord, onClose }: LetterPanelProps) {
  const reading = useDeadLetter(id)
  return (
    <SidePanel label="Dead letter" title={shownText(reading.data?.messageId ?? 'Dead letter')} onClose={onClose}>
      <Shown of={reading} thing="Dead letter" id={id}>
        {(letter) => <Letter letter={letter} nameOf={nameOf} stageWord={stageWord} />}
      </Shown>
    </SidePanel>
  )
}

interface LetterProps {
  readonly letter: DeadLetterWithPayloads
  readonly nameOf: (destinationId: string) => string
  readonly stageWord: (stage: Stage) => string
}

function Letter({ letter, nameOf, stageWord }: LetterProps) {
  const { id, state, stage, reason, messageId, destinationId, acceptedAt, deadAt, attempts, request, answer } = letter
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ['State', state],
    ['Destination', nameOf(destinationId)],
    ['Stage', stageWord(stage)],
    ['Accepted', <Time key="at" at={acceptedAt} precision="millisecond" />],
    ['Given up', <Time key="at" at={deadAt} precision="millisecond" />],
    ['Attempts', attempts],
    ['Id', <ShownId key="id" id={id} />],
  ]
  return (
    <div className={styles.letter}>
      <pre className={styles.reason}>{shownText(reason)}</pre>
      <div className={styles.actions}>
        {stage === 'user_transformation' && <LetterCode letter={letter} />}
        {state === 'open' && <SendAgain letterId={id} />}
        {state === 'open' && <Discard id={id} />}
        <Button variant="default" component={Link} to={`/events/${encodeURIComponent(messageId)}`}>
          Open trace
        </Button>
      </div>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {letter.history.length > 0 && <AttemptRows attempts={letter.history} acceptedAt={acceptedAt} />}
      {request !== null && (
        <section className={styles.part}>
          <p className={styles.heading}>Last request</p>
          <p className={styles.endpoint}>
            <code>
              {request.method} {shownText(request.endpoint)}
            </code>
          </p>
          <JsonView value={request.headers} what="headers" maxHeight={200} />
        </section>
      )}
      {answer !== null && answer.text !== null && answer.text !== '' && (
        <section className={styles.part}>
          <p className={styles.heading}>Answer {answer.status}</p>
          <JsonView value={answer.text} what="answer" maxHeight={240} />
        </section>
      )}
      <section className={styles.part}>
        <p className={styles.heading}>Event</p>
        <JsonView value={letter.event} what="event" />
      </section>
    </div>
  )
}

function Discard({ id }: { readonly id: string }) {
  const [isAsking, setAsking] = useState(false)
  const { mutateAsync } = useDiscardDeadLetter()
  return (
    <>
      <NeedsRole role="editor">
        <Button variant="default" onClick={() => setAsking(true)}>
          Discard
        </Button>
      </NeedsRole>
      {isAsking && (
        <ConfirmDialog
          title="Discard this event"
          action="Discard"
          onConfirm={() => mutateAsync({ id })}
          onClose={() => setAsking(false)}
        >
          <p>It will not be sent.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
