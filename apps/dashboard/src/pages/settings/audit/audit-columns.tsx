import type { AuditEntry } from '@millrace/api-types'
import { shownText } from '../../../components/json/shown-text.ts'
import { ShownId } from '../../../components/shown-id.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import type { Column } from '../../../components/table/table-column.ts'
import { Time } from '../../../components/time/time.tsx'

export const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  { key: 'at', title: 'Time', width: '136px', cell: ({ at }) => <Time at={at} isInRow /> },
  { key: 'actor', title: 'Actor', width: 'minmax(140px, 1.5fr)', cell: ({ actor }) => shownText(actor) },
  {
    key: 'token',
    title: 'Token',
    width: 'minmax(80px, 1fr)',
    cell: ({ tokenName }) => shownText(tokenName ?? '–'),
    card: 'none',
  },
  {
    key: 'action',
    title: 'Action',
    width: 'minmax(160px, 1fr)',
    cell: ({ action, kind }) => `${action} ${kind}`,
    card: 'title',
  },
  {
    key: 'resource',
    title: 'Id',
    width: '264px',
    cell: ({ resourceId }) => (resourceId === null ? '–' : <ShownId id={resourceId} />),
    card: 'none',
  },
  {
    key: 'outcome',
    title: 'Outcome',
    width: '128px',
    cell: ({ outcome }) => <StateMark kind={outcome === 'ok' ? 'ok' : 'failed'}>{outcome}</StateMark>,
    card: 'end',
  },
  {
    key: 'address',
    title: 'Address',
    width: '120px',
    cell: ({ address }) => address ?? '–',
    card: 'none',
  },
]
