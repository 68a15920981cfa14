import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useConnections } from '../../api/connections.ts'
import { useSources } from '../../api/sources.ts'
import { useStats } from '../../api/stats.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { RATE_SECONDS } from '../../components/figures/series.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { isPartOf } from '../../components/part-of.ts'
import { SearchField } from '../../components/search-field.tsx'
import { Empty, EmptyByFilter } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import { sortedRows } from '../../components/table/table-column.ts'
import { PageHead } from '../../shell/page/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { homeTexts } from '../../texts.ts'
import { activityBySource } from './source-activity.ts'
import { sourceColumns } from './source-columns.tsx'
import styles from './sources.module.css'
import { sourcesSearch } from './sources-search.ts'

const POLL_MS = 10_000

export function SourcesPage() {
  const [{ q = '', sort }, set] = useSearchValues(sourcesSearch)
  const navigate = useNavigate()
  const reading = useSources()
  const stats = useStats({ seconds: RATE_SECONDS, step: 10 }, { pollMs: POLL_MS }).data
  const connections = useConnections().data
  const connected = useMemo(() => connections && new Set(connections.map(({ sourceId }) => sourceId)), [connections])
  const columns = useMemo(() => sourceColumns(activityBySource(stats), connected), [stats, connected])
  const add = (
    <NeedsRole role="editor">
      <LinkButton to="/sources/new">New source</LinkButton>
    </NeedsRole>
  )
  return (
    <>
      <PageHead
        title="Sources"
        actions={
          <>
            <ApiPopover path="/v2/sources" query={{ q }} rows={reading.data?.length} />
            {add}
          </>
        }
      />
      <Shown of={reading}>
        {(sources) => {
          if (sources.length === 0) return <Empty text={homeTexts.noSource}>{add}</Empty>
          const found = sources.filter(({ id, key, name }) => isPartOf(q, id, key, name))
          const rows = sortedRows(found, columns, sort)
          return (
            <>
              <div className={styles.filters}>
                <SearchField label="Name, key or id" className={styles.filter} value={q} onChange={(q) => set({ q })} />
              </div>
              {rows.length === 0 ? (
                <EmptyByFilter onClear={() => set({ q: undefined })} />
              ) : (
                <DataTable
                  label="Sources"
                  columns={columns}
                  rows={rows}
                  rowId={({ id }) => id}
                  rowName={({ name }) => name}
                  onOpen={({ id }) => void navigate({ to: '/sources/$id/setup', params: { id } as never })}
                  sort={sort}
                  onSort={(sort) => set({ sort })}
                />
              )}
            </>
          )
        }}
      </Shown>
    </>
  )
}
