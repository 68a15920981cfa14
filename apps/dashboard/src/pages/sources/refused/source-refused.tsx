import { type Refusal, useRefusals } from '../../../api/sources.ts'
import { bytesText } from '../../../components/figures/figure-text.ts'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import type { Column } from '../../../components/table/table-column.ts'
import { Time } from '../../../components/time/time.tsx'
import { sourceTexts } from '../../../texts.ts'
import type { SourceTabProps } from '../source-page.tsx'

const POLL_MS = 10_000

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

/** Requests with the key of this source, or with a key of none, that were refused lately. */
export function SourceRefused({ source }: SourceTabProps) {
  const reading = useRefusals({}, { pollMs: POLL_MS })
  return (
    <Shown of={reading}>
      {(refusals) => {
        const rows = refusals.filter(({ sourceId }) => sourceId === null || sourceId === source.id)
        if (rows.length === 0) return <Empty text={sourceTexts.noRefusals} />
        return (
          <DataTable label="Refused requests" columns={COLUMNS} rows={rows} rowId={idOf} copied={({ text }) => text} />
        )
      }}
    </Shown>
  )
}

/** Refusals have no ids; two of the same millisecond and key are told apart by what was refused. */
function idOf({ at, route, status, keyStart, bytes, text }: Refusal): string {
  return [at, route, status, keyStart, bytes, text].join(' ')
}
