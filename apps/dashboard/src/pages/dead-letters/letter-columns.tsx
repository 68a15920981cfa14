import type { DeadLetter } from '@millrace/api-types'
import { firstLine, shownText } from '../../components/json/shown-text.ts'
import type { Column } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'

/** @param isCompact whether a panel is open beside. */
export function letterColumns(nameOf: (id: string) => string, isCompact: boolean): readonly Column<DeadLetter>[] {
  const all: readonly (Column<DeadLetter> & { isWide?: true })[] = [
    { key: 'dead', title: 'Given up', width: '128px', cell: ({ deadAt }) => <Time at={deadAt} isInRow />, card: 'end' },
    {
      key: 'event',
      title: 'Event',
      width: 'minmax(120px, 1.2fr)',
      cell: ({ eventType, eventName }) => shownText(eventName || eventType),
      card: 'title',
    },
    {
      key: 'user',
      title: 'User',
      width: 'minmax(80px, 1fr)',
      cell: ({ userId }) => shownText(userId ?? '–'),
      isWide: true,
      card: 'none',
    },
    {
      key: 'destination',
      title: 'Destination',
      width: 'minmax(112px, 1fr)',
      cell: ({ destinationId }) => nameOf(destinationId),
      isWide: true,
    },
    {
      key: 'reason',
      title: 'Reason',
      width: 'minmax(120px, 1.6fr)',
      cell: ({ reason }) => shownText(firstLine(reason)),
    },
    { key: 'status', title: 'Answer', width: '64px', cell: ({ lastStatus }) => lastStatus ?? '–', card: 'none' },
    {
      key: 'attempts',
      title: 'Attempts',
      width: '64px',
      isEnd: true,
      cell: ({ attempts }) => attempts,
      card: 'none',
      isWide: true,
    },
    { key: 'state', title: 'State', width: '72px', cell: ({ state }) => state, card: 'none', isWide: true },
  ]
  return isCompact ? all.filter(({ isWide }) => !isWide) : all
}
