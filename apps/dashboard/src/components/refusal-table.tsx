import type { Refusal } from '@millrace/api-types'
import { bytesText } from './figures/figure-text.ts'
import { DataTable } from './table/data-table.tsx'
import type { Column } from './table/table-column.ts'
import { Time } from './time/time.tsx'

const COLUMNS: readonly Column<Refusal>[] = [
  { key: 'at', title: 'Time', width: '152px', cell: ({ at }) => <Time at={at} isInRow />, card: 'end' },
  { key: 'status', title: 'Status', width: '64px', cell: ({ status }) => status },
  { key: 'text', title: 'Answer', width: 'minmax(180px, 2fr)', cell: ({ text }) => text, card: 'title' },
  { key: 'route', title: 'Route', width: '112px', cell: ({ route }) => route },
  {
    key: 'key',
    title: 'Key',
    width: '128px',
    cell: ({ sourceId, keyStart }) => (
      <>
        {keyStart}… {sourceId === null && '(unknown)'}
      </>
    ),
  },
  { key: 'address', title: 'Address', width: '128px', cell: ({ address }) => address, card: 'none' },
  { key: 'agent', title: 'User agent', width: 'minmax(96px, 1fr)', cell: ({ userAgent }) => userAgent, card: 'none' },
  { key: 'bytes', title: 'Size', width: '72px', isEnd: true, cell: ({ bytes }) => bytesText(bytes), card: 'none' },
]

/** Refused requests, newest first. */
export function RefusalTable({ refusals }: { readonly refusals: readonly Refusal[] }) {
  return (
    <DataTable label="Refused requests" columns={COLUMNS} rows={refusals} rowId={idOf} copied={({ text }) => text} />
  )
}

/** Refusals have no ids; two with the same millisecond and key differ in the refused request. */
function idOf({ at, route, status, keyStart, bytes, text }: Refusal): string {
  return [at, route, status, keyStart, bytes, text].join(' ')
}
