import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type Source, useSources } from '../../api/sources.ts'
import { useStats } from '../../api/stats.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { Empty, EmptyByFilter } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import { sortedRows } from '../../components/table/table-column.ts'
import { PageHead } from '../../shell/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { homeTexts } from '../../texts.ts'
import { activityBySource, RATE_SECONDS } from './source-activity.ts'
import { sourceColumns } from './source-columns.tsx'
import styles from './sources.module.css'
import { sourcesSearch } from './sources-search.ts'

const POLL_MS = 10_000

/** @see contracts/dashboard.md §2 */
export function SourcesPage() {
  const [{ q = '', sort }, set] = useSearchValues(sourcesSearch)
  const navigate = useNavigate()
  const reading = useSources()
  const found = reading.data?.filter((source) => fits(source, q)) ?? []
  const stats = useStats({ seconds: RATE_SECONDS, step: 10 }, { pollMs: POLL_MS }).data
  const columns = useMemo(() => sourceColumns(activityBySource(stats)), [stats])
  return (
    <>
      <PageHead
        title="Sources"
        actions={
          <>
            <ApiPopover path="/v2/sources" query={{ q }} rows={found.length} />
            <NeedsRole role="editor">
              <LinkButton to="/sources/new">New source</LinkButton>
            </NeedsRole>
          </>
        }
      />
      <Shown of={reading} thing="Page">
        {(sources) =>
          sources.length === 0 ? (
            <Empty text={homeTexts.noSource}>
              <NeedsRole role="editor">
                <LinkButton to="/sources/new">New source</LinkButton>
              </NeedsRole>
            </Empty>
          ) : (
            <>
              <div className={styles.filters}>
                <TextInput
                  className={styles.filter}
                  aria-label="Name, key or id"
                  placeholder="Name, key or id"
                  type="search"
                  data-filter
                  value={q}
                  onChange={({ currentTarget }) => set({ q: currentTarget.value || undefined })}
                />
              </div>
              <SourceList sources={sortedRows(found, columns, sort)} onClear={() => set({ q: undefined })}>
                {(rows) => (
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
              </SourceList>
            </>
          )
        }
      </Shown>
    </>
  )
}

interface SourceListProps {
  readonly sources: readonly Source[]
  readonly onClear: () => void
  readonly children: (rows: readonly Source[]) => React.ReactNode
}

function SourceList({ sources, onClear, children }: SourceListProps) {
  return sources.length === 0 ? <EmptyByFilter onClear={onClear} /> : children(sources)
}

/** As the server's own `q`: a part of the name, key or id, in any case. */
function fits({ id, key, name }: Source, q: string): boolean {
  const part = q.toLowerCase()
  return [id, key, name].some((text) => text.toLowerCase().includes(part))
}
