import { grouped } from '@millrace/wording'
import { useMemo } from 'react'
import { firstLine, shownText } from '../../components/json/shown-text.ts'
import { DataTable } from '../../components/table/data-table.tsx'
import type { Column } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'
import { type LetterGroup, targetOf } from './letter-groups.ts'
import { STAGE_WORDS } from './stage-words.ts'

interface GroupTableProps {
  readonly groups: readonly LetterGroup[]
  readonly nameOf: (destinationId: string) => string
  readonly onOpen: (group: LetterGroup) => void
}

/** Reasons of dead letters, with the count of each: an outage is one row. */
export function GroupTable({ groups, nameOf, onOpen }: GroupTableProps) {
  const columns = useMemo(() => groupColumns(nameOf), [nameOf])
  return (
    <DataTable
      label="Groups"
      columns={columns}
      rows={groups}
      rowId={({ key }) => key}
      rowName={(group) => `${grouped(group.count)} at ${targetOf([group], nameOf)}: ${firstLine(group.reason)}`}
      copied={({ reason }) => reason}
      onOpen={onOpen}
    />
  )
}

function groupColumns(nameOf: (id: string) => string): readonly Column<LetterGroup>[] {
  return [
    {
      key: 'count',
      title: 'Events',
      width: '72px',
      isEnd: true,
      cell: ({ count }) => grouped(count),
      card: 'end',
      isTitledInCard: true,
    },
    {
      key: 'reason',
      title: 'Reason',
      width: 'minmax(160px, 2fr)',
      cell: ({ reason }) => <span title={reason}>{shownText(firstLine(reason))}</span>,
      card: 'title',
    },
    {
      key: 'status',
      title: 'Last answer',
      width: '88px',
      cell: ({ lastStatuses }) => lastStatuses.join(', ') || '–',
      isTitledInCard: true,
    },
    {
      key: 'destination',
      title: 'Destination',
      width: 'minmax(120px, 1fr)',
      cell: (group) => <span title={group.destinationIds.map(nameOf).join('\n')}>{targetOf([group], nameOf)}</span>,
    },
    { key: 'stage', title: 'Stage', width: '136px', cell: ({ stage }) => STAGE_WORDS[stage] },
    {
      key: 'oldest',
      title: 'Oldest',
      width: '128px',
      cell: ({ oldestAt }) => <Time at={oldestAt} isInRow />,
      card: 'none',
    },
    {
      key: 'newest',
      title: 'Newest',
      width: '128px',
      cell: ({ newestAt }) => <Time at={newestAt} isInRow />,
      card: 'none',
    },
  ]
}
