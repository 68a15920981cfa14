import { counted, grouped } from '@millrace/wording'
import { useMemo } from 'react'
import { useKeyCounts } from '../../../api/schemas.ts'
import { ShareBar } from '../../../components/figures/share-bar.tsx'
import { shownText } from '../../../components/json/shown-text.ts'
import { isPartOf } from '../../../components/part-of.ts'
import { SearchField } from '../../../components/search-field.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import { EmptyByFilter } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import { type Column, compareNumbers, compareTexts, sortedRows } from '../../../components/table/table-column.ts'
import { useSearchValues } from '../../../shell/search-values.ts'
import styles from '../schema.module.css'
import { modelSearch } from '../schema-search.ts'
import { type KeyRow, keyRows } from './key-rows.ts'
import type { ModelTabProps } from './model-tab-props.ts'

/** Every key that any event of the model contained. */
export function KeysTab({ model, versions }: ModelTabProps) {
  const counts = useKeyCounts(model.EventID)
  return (
    <Shown of={counts}>
      {(counts) => <Keys rows={keyRows(model.Schema, counts, versions)} total={countedEvents(counts)} />}
    </Shown>
  )
}

/**
 * Every event has a type: its count is the number of events when the keys were counted, possibly ahead of the model.
 */
function countedEvents(counts: Readonly<Record<string, number>>): number {
  return counts['type'] ?? Math.max(0, ...Object.values(counts))
}

function Keys({ rows, total }: { readonly rows: readonly KeyRow[]; readonly total: number }) {
  const [{ q: part = '', sort }, set] = useSearchValues(modelSearch)
  const columns = useMemo(() => keyColumns(total), [total])
  const shown = rows.filter(({ path }) => isPartOf(part, path))
  return (
    <>
      <div className={styles.filters}>
        <SearchField label="Key" className={styles.filter} value={part} onChange={(q) => set({ q })} />
        <span className={styles.dim}>{counted(shown.length, 'key')}</span>
      </div>
      {shown.length === 0 && part !== '' ? (
        <EmptyByFilter onClear={() => set({ q: undefined })} />
      ) : (
        <DataTable
          label="Keys"
          columns={columns}
          rows={sortedRows(shown, columns, sort)}
          rowId={({ path }) => path}
          sort={sort}
          onSort={(sort) => set({ sort })}
        />
      )}
    </>
  )
}

function keyColumns(total: number): readonly Column<KeyRow>[] {
  return [
    {
      key: 'path',
      title: 'Key',
      width: 'minmax(200px, 2fr)',
      cell: ({ path }) => <span className={styles.mono}>{shownText(path)}</span>,
      compare: (a, b) => compareTexts(a.path, b.path),
      card: 'title',
    },
    {
      key: 'type',
      title: 'Type',
      width: 'minmax(120px, 1fr)',
      cell: ({ types }) => types.join(', '),
      compare: (a, b) => compareTexts(a.types.join(), b.types.join()),
    },
    {
      key: 'conflict',
      title: 'Conflict',
      width: '112px',
      cell: ({ types }) => (types.length > 1 ? <StateMark kind="behind">{`${types.length} types`}</StateMark> : null),
      compare: (a, b) => b.types.length - a.types.length,
      card: 'end',
    },
    {
      key: 'share',
      title: 'Events',
      width: 'minmax(200px, 1fr)',
      cell: ({ events }) =>
        events === null ? '–' : <ShareBar share={total === 0 ? 0 : events / total} text={shareText(events, total)} />,
      compare: (a, b) => compareNumbers(a.events, b.events),
    },
    {
      key: 'lacking',
      title: 'Versions without',
      width: '128px',
      isEnd: true,
      cell: ({ lacking }) => grouped(lacking),
      compare: (a, b) => a.lacking - b.lacking,
      card: 'none',
    },
  ]
}

/** `72 of 240`. */
function shareText(events: number, total: number): string {
  return `${grouped(events)} of ${grouped(total)}`
}
