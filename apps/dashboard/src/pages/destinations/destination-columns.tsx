import { ShownId } from '../../components/shown-id.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { countColumn } from '../../components/table/count-column.ts'
import { type Column, compareTexts } from '../../components/table/table-column.ts'
import styles from './destinations.module.css'
import type { ListedDestination } from './listed-destination.ts'

export function destinationColumns(typeName: (type: string) => string): readonly Column<ListedDestination>[] {
  const typeOf = ({ destination: { type } }: ListedDestination) => typeName(type)
  return [
    {
      key: 'name',
      title: 'Name',
      width: 'minmax(160px, 2fr)',
      cell: ({ destination }) => destination.name,
      compare: (a, b) => compareTexts(a.destination.name, b.destination.name),
      card: 'title',
    },
    {
      key: 'type',
      title: 'Type',
      width: 'minmax(96px, 1fr)',
      cell: typeOf,
      compare: (a, b) => compareTexts(typeOf(a), typeOf(b)),
    },
    {
      key: 'state',
      title: 'State',
      width: 'minmax(184px, 3fr)',
      cell: ({ state, why }) => (
        <span className={styles.state} title={why}>
          <StateMark kind={state.kind}>{state.word}</StateMark>
          {why !== undefined && <span className={styles.why}>{why}</span>}
        </span>
      ),
      compare: (a, b) => a.state.rank - b.state.rank,
      card: 'end',
    },
    countColumn({ key: 'rate', title: 'Delivered/min', width: '104px', value: ({ perMinute }) => perMinute }),
    countColumn({ key: 'waiting', title: 'Waiting', width: '72px', value: ({ waiting }) => waiting }),
    countColumn({ key: 'dead', title: 'Dead', width: '64px', value: ({ dead }) => dead }),
    {
      key: 'id',
      title: 'Id',
      width: '264px',
      cell: ({ destination }) => <ShownId id={destination.id} />,
      card: 'none',
    },
  ]
}
