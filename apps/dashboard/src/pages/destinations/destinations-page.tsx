import { Select } from '@mantine/core'
import type { Destination } from '@millrace/api-types'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useTypeName } from '../../api/destination-definitions.ts'
import { useDeliveryStates, useDestinations } from '../../api/destinations.ts'
import { serverNow } from '../../api/requests/server-clock.ts'
import { useStats } from '../../api/stats.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { RATE_SECONDS } from '../../components/figures/series.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { Empty, EmptyByFilter } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import { sortedRows } from '../../components/table/table-column.ts'
import { PageHead } from '../../shell/page/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { destinationTexts, homeTexts } from '../../texts.ts'
import { deliveredPerMinute } from './destination-activity.ts'
import { destinationColumns } from './destination-columns.tsx'
import styles from './destinations.module.css'
import { destinationsSearch, STATE_NAMES, type StateName } from './destinations-search.ts'
import { fitsFilter, listedDestinations } from './listed-destination.ts'

const POLL_MS = 10_000

export function DestinationsPage() {
  const [{ q = '' }] = useSearchValues(destinationsSearch)
  const reading = useDestinations()
  return (
    <>
      <PageHead
        title="Destinations"
        actions={
          <>
            <ApiPopover path="/v2/destinations" query={{ q }} rows={reading.data?.length} />
            <NewButton />
          </>
        }
      />
      <Shown of={reading}>
        {(destinations) =>
          destinations.length === 0 ? (
            <Empty text={destinationTexts.empty}>
              <NewButton />
            </Empty>
          ) : (
            <DestinationList destinations={destinations} />
          )
        }
      </Shown>
    </>
  )
}

function NewButton() {
  return (
    <NeedsRole role="editor">
      <LinkButton to="/destinations/new">New destination</LinkButton>
    </NeedsRole>
  )
}

function DestinationList({ destinations }: { readonly destinations: readonly Destination[] }) {
  const [{ sort, ...filter }, set] = useSearchValues(destinationsSearch)
  const navigate = useNavigate()
  const states = useDeliveryStates({ pollMs: POLL_MS }).data
  const stats = useStats({ seconds: RATE_SECONDS, step: 10 }, { pollMs: POLL_MS }).data
  const typeName = useTypeName()
  const columns = useMemo(() => destinationColumns(typeName), [typeName])
  const listed = listedDestinations(destinations, states, deliveredPerMinute(stats), serverNow())
  const rows = sortedRows(
    listed.filter((each) => fitsFilter(each, filter)),
    columns,
    sort,
  )
  const types = [...new Set(destinations.map(({ type }) => type))]
  return (
    <>
      <div className={styles.filters}>
        <SearchField label="Name, key or id" className={styles.filter} value={filter.q} onChange={(q) => set({ q })} />
        <Select
          className={styles.choice}
          aria-label="State"
          placeholder="State"
          data={STATE_NAMES.map((value) => ({ value, label: STATE_WORDS[value] }))}
          value={filter.state ?? null}
          onChange={(value) => set({ state: (value as StateName | null) ?? undefined })}
          clearable
        />
        <Select
          className={styles.choice}
          aria-label="Type"
          placeholder="Type"
          data={types.map((value) => ({ value, label: typeName(value) }))}
          value={filter.type ?? null}
          onChange={(value) => set({ type: value ?? undefined })}
          clearable
        />
      </div>
      {rows.length === 0 ? (
        <EmptyByFilter onClear={() => set({ q: undefined, state: undefined, type: undefined })} />
      ) : (
        <DataTable
          label="Destinations"
          columns={columns}
          rows={rows}
          rowId={({ destination }) => destination.id}
          rowName={({ destination }) => destination.name}
          onOpen={({ destination: { id } }) =>
            void navigate({ to: '/destinations/$id/overview', params: { id } as never })
          }
          sort={sort}
          onSort={(sort) => set({ sort })}
        />
      )}
    </>
  )
}

const STATE_WORDS: Readonly<Record<StateName, string>> = {
  attention: 'needs attention',
  unauthorised: homeTexts.unauthorised,
  resting: homeTexts.resting,
  behind: 'behind',
  dead: 'dead letters',
  off: homeTexts.off,
  ok: homeTexts.ok,
}
