import { Button } from '@mantine/core'
import type { Replay } from '@millrace/api-types'
import { grouped } from '@millrace/wording'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useDestinations } from '../../api/destinations.ts'
import { namesOf } from '../../api/names.ts'
import { isRunning, useReplay, useSteerReplay } from '../../api/replays.ts'
import { useSources } from '../../api/sources.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Figure, Figures } from '../../components/figures/figure.tsx'
import { ShareBar } from '../../components/figures/share-bar.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { ShownId } from '../../components/shown-id.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { titleOf } from '../../components/states/read-state.ts'
import { Shown } from '../../components/states/shown.tsx'
import { Time } from '../../components/time/time.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { replayTexts } from '../../texts.ts'
import { outcomeParts, progressShare, progressText, replayKind, replayState } from './replay-words.ts'
import styles from './replays.module.css'

/** One job: its progress, and the actions to pause or cancel it. */
export function ReplayPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const reading = useReplay(id)
  return (
    <>
      <PageHead
        title={titleOf(reading, replayKind, 'Replay')}
        meta={
          reading.data && (
            <>
              <ReplayState replay={reading.data} />
              <ShownId id={id} />
            </>
          )
        }
        actions={
          <>
            <ApiPopover path={`/v2/replays/${encodeURIComponent(id)}`} />
            {reading.data && <Steering replay={reading.data} />}
          </>
        }
      />
      <Shown of={reading} thing="Replay" id={id}>
        {(replay) => <Progress replay={replay} />}
      </Shown>
    </>
  )
}

function ReplayState({ replay }: { readonly replay: Replay }) {
  const { kind, word } = replayState(replay)
  return <StateMark kind={kind}>{word}</StateMark>
}

/**
 * A failed replay of a dead letter keeps the original dead letter and its time; a failed event of the log becomes a new
 * one.
 */
function FailedLink({ replay }: { readonly replay: Replay }) {
  const { deadLettered, destinationIds, createdAt, origin } = replay
  const [only, ...others] = destinationIds
  const range: Readonly<Record<string, string>> =
    origin === 'log' ? { from: createdAt } : { from: replay.from ?? '', to: replay.to ?? '' }
  const search = { ...range, ...(only === undefined || others.length > 0 ? {} : { destinationId: only }) }
  return (
    <div>
      <LinkButton variant="default" to="/dead-letters" search={search}>
        {replayTexts.seeFailed(deadLettered, origin === 'dead_letters')}
      </LinkButton>
    </div>
  )
}

function Steering({ replay }: { readonly replay: Replay }) {
  const { id, state } = replay
  const { mutate, mutateAsync, error, isPending } = useSteerReplay()
  const [isAsking, setAsking] = useState(false)
  if (!isRunning(replay) && state !== 'paused') return null
  const to = state === 'paused' ? 'resume' : 'pause'
  return (
    <>
      <NeedsRole role="editor">
        <Button variant="default" loading={isPending} onClick={() => mutate({ id, to })}>
          {to === 'pause' ? 'Pause' : 'Resume'}
        </Button>
      </NeedsRole>
      <NeedsRole role="editor">
        <Button variant="default" onClick={() => setAsking(true)}>
          Cancel replay
        </Button>
      </NeedsRole>
      {!isAsking && <Refusal error={error} />}
      {isAsking && (
        <ConfirmDialog
          title="Cancel this replay"
          action="Cancel replay"
          onConfirm={() => mutateAsync({ id, to: 'cancel' })}
          onClose={() => setAsking(false)}
        >
          <p>Events in delivery still finish; the others are not sent.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

function Progress({ replay }: { readonly replay: Replay }) {
  const { origin, dryRun, taken, delivered, filtered, deadLettered, discarded, sourceIds, destinationIds } = replay
  const { from, to, rateEventsPerSecond, createdBy, createdAt, finishedAt } = replay
  return (
    <div className={styles.sections}>
      <div role="status" className={styles.progress}>
        <ShareBar share={progressShare(replay)} parts={outcomeParts(replay)} text={progressText(replay)} />
      </div>
      {!dryRun && deadLettered > 0 && <FailedLink replay={replay} />}
      {!dryRun && (
        <Figures>
          <Figure label="Started" value={grouped(taken)} />
          <Figure label="Delivered" value={grouped(delivered)} />
          <Figure label="Filtered" value={grouped(filtered)} />
          <Figure label="Dead" value={grouped(deadLettered)} tone={deadLettered > 0 ? 'bad' : 'plain'} />
          <Figure label="Discarded" value={grouped(discarded)} />
        </Figures>
      )}
      <dl className={styles.facts}>
        <div>
          <dt>Sources</dt>
          <dd>
            <Names ids={sourceIds} path="/sources" list={useSources().data} none="all" />
          </dd>
        </div>
        <div>
          <dt>Destinations</dt>
          <dd>
            <Names ids={destinationIds} path="/destinations" list={useDestinations().data} none="–" />
          </dd>
        </div>
        <div>
          <dt>{origin === 'log' ? 'Accepted' : 'Given up'}</dt>
          <dd>
            {from === null && to === null ? (
              'any time'
            ) : (
              <>
                <Time at={from} none="any time" /> – <Time at={to} none="any time" />
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Rate</dt>
          <dd>{grouped(rateEventsPerSecond)}/s</dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            <Time at={createdAt} /> by {createdBy}
          </dd>
        </div>
        <div>
          <dt>Finished</dt>
          <dd>
            <Time at={finishedAt} />
          </dd>
        </div>
      </dl>
    </div>
  )
}

interface NamesProps {
  readonly ids: readonly string[]
  readonly path: string
  readonly list: readonly { readonly id: string; readonly name: string }[] | undefined
  readonly none: string
}

function Names({ ids, path, list, none }: NamesProps) {
  if (ids.length === 0) return none
  const nameOf = namesOf(list)
  return ids.map((id, at) => (
    <span key={id}>
      {at > 0 && ', '}
      <Link to={`${path}/${id}`}>{nameOf(id)}</Link>
    </span>
  ))
}
