import { Button, Drawer, Select, TextInput } from '@mantine/core'
import type { AuditEntry, AuditKind } from '@millrace/api-types'
import { useMemo } from 'react'
import { AUDIT_KINDS, useAuditLog } from '../../../api/audit-log.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { MAX_ROWS } from '../../../components/curl-text.ts'
import { useMay } from '../../../components/needs-role.tsx'
import { Empty, EmptyByFilter } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import { TimeField } from '../../../components/time/time-field.tsx'
import { useSearchValues } from '../../../shell/search-values.ts'
import { settingsTexts } from '../../../texts.ts'
import styles from '../settings.module.css'
import { SettingsHead } from '../settings-head.tsx'
import { AUDIT_COLUMNS } from './audit-columns.tsx'
import { AuditEntryDetail } from './audit-entry.tsx'
import { auditSearch } from './audit-search.ts'

/** The audit log: changes with their authors, and refused changes. */
export function AuditPage() {
  const [{ id, ...filters }, set] = useSearchValues(auditSearch)
  const log = useAuditLog(filters)
  const isFiltered = Object.keys(filters).length > 0
  const isAdmin = useMay('admin')
  return (
    <>
      <SettingsHead actions={<ApiPopover path="/v2/audit-log" query={{ ...filters, limit: MAX_ROWS }} />} />
      {(isAdmin || log.data !== undefined) && (
        <div className={styles.filters}>
          <TextInput
            className={styles.filter ?? ''}
            label="Actor"
            type="search"
            placeholder="E-mail"
            data-filter
            value={filters.actor ?? ''}
            onChange={({ currentTarget }) => set({ actor: currentTarget.value || undefined })}
          />
          <Select
            className={styles.filter ?? ''}
            label="Kind"
            placeholder="All"
            data={[...AUDIT_KINDS]}
            value={filters.kind ?? null}
            clearable
            onChange={(kind) => set({ kind: (kind ?? undefined) as AuditKind | undefined })}
          />
          <TimeField
            className={styles.filter ?? ''}
            label="From"
            value={filters.from}
            onChange={(from) => set({ from })}
          />
          <TimeField className={styles.filter ?? ''} label="To" value={filters.to} onChange={(to) => set({ to })} />
        </div>
      )}
      <Shown of={log} role="admin">
        {({ pages }) => (
          <Entries
            entries={pages.flatMap(({ elements }) => elements)}
            hasMore={log.hasNextPage}
            isLoading={log.isFetchingNextPage}
            isFailed={log.isError}
            onMore={() => void log.fetchNextPage()}
            isFiltered={isFiltered}
            onClear={() => set({ actor: undefined, kind: undefined, from: undefined, to: undefined })}
            openId={id}
            onOpen={(opened) => set({ id: opened }, 'push')}
          />
        )}
      </Shown>
    </>
  )
}

interface EntriesProps {
  readonly entries: readonly AuditEntry[]
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly isFailed: boolean
  readonly onMore: () => void
  readonly isFiltered: boolean
  readonly onClear: () => void
  readonly openId: string | undefined
  readonly onOpen: (id: string | undefined) => void
}

function Entries({ entries, hasMore, isLoading, isFailed, onMore, isFiltered, onClear, openId, onOpen }: EntriesProps) {
  const open = useMemo(() => entries.find(({ id }) => id === openId), [entries, openId])
  if (entries.length === 0)
    return isFiltered ? <EmptyByFilter onClear={onClear} /> : <Empty text={settingsTexts.empty} />
  return (
    <>
      <DataTable
        label="Audit log"
        columns={AUDIT_COLUMNS}
        rows={entries}
        rowId={({ id }) => id}
        rowName={({ action, kind, actor }) => `${action} ${kind} by ${actor}`}
        total={hasMore ? null : entries.length}
        currentId={openId}
        onOpen={({ id }) => onOpen(id)}
        onNearEnd={hasMore && !isFailed ? onMore : undefined}
      />
      {hasMore && (
        <Button className={styles.more ?? ''} variant="default" loading={isLoading} onClick={onMore}>
          Older entries
        </Button>
      )}
      <Drawer
        opened={open !== undefined}
        onClose={() => onOpen(undefined)}
        position="right"
        size={520}
        title={open === undefined ? '' : `${open.action} ${open.kind}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
        transitionProps={{ duration: 0 }}
      >
        {open !== undefined && <AuditEntryDetail entry={open} />}
      </Drawer>
    </>
  )
}
