import type { ListedEvent } from '@millrace/api-types'
import { shownText } from '../../components/json/shown-text.ts'
import type { Column } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'
import styles from './events.module.css'
import { OutcomeMarks } from './outcome-marks.tsx'

export type EventColumn = 'time' | 'source' | 'type' | 'name' | 'user' | 'outcomes'

interface Names {
  readonly sourceName: (id: string) => string
  readonly destinationName: (id: string) => string
}

/** @param hidden columns with the same value in each row, or without room. */
export function eventColumns(
  { sourceName, destinationName }: Names,
  hidden: readonly EventColumn[],
): readonly Column<ListedEvent>[] {
  const all: readonly (Column<ListedEvent> & { key: EventColumn })[] = [
    {
      key: 'time',
      title: 'Time',
      width: '120px',
      cell: ({ acceptedAt }) => <Time at={acceptedAt} isInRow />,
      card: 'end',
    },
    { key: 'source', title: 'Source', width: 'minmax(96px, 1fr)', cell: ({ sourceId }) => sourceName(sourceId) },
    { key: 'type', title: 'Type', width: '72px', cell: ({ type }) => type },
    {
      key: 'name',
      title: 'Name',
      width: 'minmax(120px, 1.6fr)',
      cell: ({ name, type }) =>
        name ? (
          shownText(name)
        ) : (
          <span className={styles.none}>
            <span className={styles.inTable}>–</span>
            <span className={styles.inCard}>{type}</span>
          </span>
        ),
      card: 'title',
    },
    {
      key: 'user',
      title: 'User',
      width: 'minmax(96px, 1.2fr)',
      cell: ({ userId, anonymousId }) =>
        userId ? shownText(userId) : <span className={styles.none}>{shownText(anonymousId ?? '–')}</span>,
    },
    {
      key: 'outcomes',
      title: 'Destinations',
      width: 'minmax(136px, 2fr)',
      cell: ({ outcomes }) => <OutcomeMarks outcomes={outcomes} nameOf={destinationName} />,
      card: 'metaEnd',
    },
  ]
  return all.filter(({ key }) => !hidden.includes(key))
}
