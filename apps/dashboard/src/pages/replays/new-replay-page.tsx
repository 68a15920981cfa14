import { Button, MultiSelect, TextInput } from '@mantine/core'
import type { ReplayWritten } from '@millrace/api-types'
import { EVENT_TYPES, type EventType } from '@millrace/protocol/event'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useConnections } from '../../api/connections.ts'
import { useDestinations } from '../../api/destinations.ts'
import { useAdminInfo } from '../../api/health.ts'
import { isRunning, useReplay, useStartReplay } from '../../api/replays.ts'
import { ApiError } from '../../api/requests/client.ts'
import { useSources } from '../../api/sources.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { TimeField } from '../../components/time/time-field.tsx'
import { localTime } from '../../components/time/time-text.ts'
import { PageHead } from '../../shell/page/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { CountFailure } from './count-failure.tsx'
import { RateField } from './rate-field.tsx'
import { estimateText } from './replay-words.ts'
import styles from './replays.module.css'
import { newReplaySearch, STANDARD_RATE } from './replays-search.ts'

const MINUTE_MS = 60_000
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS

/** Delivers events of the log again to current destinations: counts first, then starts. */
export function NewReplayPage() {
  const [search, set] = useSearchValues(newReplaySearch)
  // "A minute ago" stays fixed while the page is open.
  const [openedAt] = useState(() => Date.now())
  const { sources = [], destinations = [], types = [], name, user, rate = STANDARD_RATE } = search
  const weekAgo = wholeMinute(openedAt - WEEK_MS)
  const info = useAdminInfo()
  const oldest = info.data?.logOldestAt ?? weekAgo
  // A range that begins before the log is refused, and the current minute is included.
  const { from = oldest > weekAgo ? oldest : weekAgo, to = wholeMinute(openedAt + MINUTE_MS) } = search
  const asked: ReplayWritten = {
    sourceIds: sources,
    destinationIds: destinations,
    from,
    to,
    filter: {
      types: types as readonly EventType[],
      events: name === undefined ? [] : [name],
      userIds: user === undefined ? [] : [user],
    },
    rateEventsPerSecond: rate,
  }
  return (
    <>
      <PageHead
        title="New replay"
        actions={<ApiPopover method="POST" path="/v2/replays" body={{ ...asked, dryRun: true }} />}
      />
      <div className={styles.form}>
        <DestinationsField value={destinations} onChange={(ids) => set({ destinations: listed(ids) })} />
        <SourcesField value={sources} destinations={destinations} onChange={(ids) => set({ sources: listed(ids) })} />
        <div className={styles.range}>
          <TimeField label="Accepted from" value={from} onChange={(value) => set({ from: value })} />
          <TimeField label="Until" value={to} onChange={(value) => set({ to: value })} />
        </div>
        <div className={styles.range}>
          <MultiSelect
            size="xs"
            label="Only types"
            placeholder={types.length === 0 ? 'All' : ''}
            data={[...EVENT_TYPES]}
            value={[...types]}
            onChange={(chosen) => set({ types: listed(chosen) as typeof types })}
          />
          <RateField rate={rate} onRate={(value) => set({ rate: value })} />
        </div>
        <div className={styles.range}>
          <TextInput
            label="Only events with this name"
            value={name ?? ''}
            onChange={({ currentTarget }) => set({ name: currentTarget.value || undefined })}
          />
          <TextInput
            label="Only of this user id"
            value={user ?? ''}
            onChange={({ currentTarget }) => set({ user: currentTarget.value || undefined })}
          />
        </div>
        <CountAndStart
          // Counts again after every change.
          key={JSON.stringify({ ...asked, rateEventsPerSecond: 0 })}
          asked={asked}
          isKnown={search.from !== undefined || !info.isPending}
          onFrom={(availableFrom) => set({ from: availableFrom })}
        />
      </div>
    </>
  )
}

interface CountAndStartProps {
  readonly asked: ReplayWritten
  /** Whether the default start of the range is loaded. */
  readonly isKnown: boolean
  readonly onFrom: (availableFrom: string) => void
}

function CountAndStart({ asked, isKnown, onFrom }: CountAndStartProps) {
  const counting = useStartReplay()
  const starting = useStartReplay()
  const [dryRunId, setDryRunId] = useState<string>()
  const reading = useReplay(dryRunId)
  const dryRun = reading.data
  const navigate = useNavigate()
  const isRead = dryRun === undefined ? reading.error !== null : !isRunning(dryRun)
  const isCounting = counting.isPending || (dryRunId !== undefined && !isRead)
  const matched = isCounting ? null : (dryRun?.matched ?? null)
  const count = () => {
    starting.reset()
    counting.mutateAsync({ ...asked, dryRun: true }).then(
      ({ body }) => setDryRunId(body.replay.id),
      () => {},
    )
  }
  const start = () => {
    starting.mutateAsync(asked).then(
      ({ body }) => navigate({ to: `/replays/${body.replay.id}` }),
      () => {},
    )
  }
  const isWhole = asked.sourceIds.length > 0 && asked.destinationIds.length > 0
  const error = starting.error ?? counting.error
  const availableFrom = error instanceof ApiError ? error.details?.['availableFrom'] : undefined
  return (
    <>
      <Refusal error={error} />
      {error === null && <CountFailure error={null} reading={reading} />}
      {typeof availableFrom === 'string' && (
        <Button variant="default" className={styles.offer} onClick={() => onFrom(availableFrom)}>
          From {localTime(new Date(availableFrom), new Date(), 'second')} on
        </Button>
      )}
      {matched !== null && (
        <p role="status" className={styles.estimate}>
          {estimateText(matched, asked.rateEventsPerSecond ?? STANDARD_RATE)}
        </p>
      )}
      <div className={styles.actions}>
        <NeedsRole role="editor">
          <Button
            variant={matched === null ? 'filled' : 'default'}
            disabled={!isWhole || !isKnown}
            loading={isCounting}
            onClick={count}
          >
            Count
          </Button>
        </NeedsRole>
        {matched !== null && matched > 0 && (
          <NeedsRole role="editor">
            <Button loading={starting.isPending} onClick={start}>
              Start
            </Button>
          </NeedsRole>
        )}
      </div>
    </>
  )
}

interface IdsFieldProps {
  readonly value: readonly string[]
  readonly onChange: (ids: readonly string[]) => void
}

function DestinationsField({ value, onChange }: IdsFieldProps) {
  const { data = [] } = useDestinations()
  return (
    <MultiSelect
      size="xs"
      label="To destinations"
      data={data.map(({ id, name, enabled }) => ({ value: id, label: enabled ? name : `${name} (off)` }))}
      searchable
      value={[...value]}
      onChange={onChange}
    />
  )
}

/** Only sources that are connected to all chosen destinations can be replayed to them. */
function SourcesField({ value, destinations, onChange }: IdsFieldProps & { readonly destinations: readonly string[] }) {
  const { data = [] } = useSources()
  const connections = useConnections().data
  const isConnected = (sourceId: string) =>
    connections === undefined ||
    destinations.every((id) => connections.some((each) => each.sourceId === sourceId && each.destinationId === id))
  return (
    <MultiSelect
      size="xs"
      label="Events of sources"
      description={destinations.length === 0 ? undefined : 'All that are connected to the destinations'}
      data={data
        .filter(({ id }) => value.includes(id) || isConnected(id))
        .map(({ id, name }) => ({ value: id, label: name }))}
      searchable
      value={[...value]}
      onChange={onChange}
    />
  )
}

function listed<T>(values: readonly T[]): readonly T[] | undefined {
  return values.length === 0 ? undefined : values
}

function wholeMinute(at: number): string {
  return new Date(Math.floor(at / MINUTE_MS) * MINUTE_MS).toISOString()
}
