import { shortNumber } from '../../components/figures/figure-text.ts'
import { ShownId } from '../../components/shown-id.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { type Column, compareNumbers, compareTexts } from '../../components/table/table-column.ts'
import type { ListedDestination } from './listed-destination.ts'

export function destinationColumns(typeNames: ReadonlyMap<string, string>): readonly Column<ListedDestination>[] {
  const typeOf = ({ destination: { type } }: ListedDestination) => typeNames.get(type) ?? type
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
      width: '184px',
      cell: ({ state }) => <StateMark kind={state.kind}>{state.word}</StateMark>,
      compare: (a, b) => a.state.rank - b.state.rank,
      card: 'end',
    },
    figure('rate', 'Delivered/min', 104, ({ perMinute }) => perMinute),
    figure('waiting', 'Waiting', 72, ({ waiting }) => waiting),
    figure('dead', 'Dead', 64, ({ dead }) => dead),
    {
      key: 'id',
      title: 'Id',
      width: '264px',
      cell: ({ destination }) => <ShownId id={destination.id} />,
      card: 'none',
    },
  ]
}

function figure(
  key: string,
  title: string,
  width: number,
  value: (row: ListedDestination) => number | null,
): Column<ListedDestination> {
  return {
    key,
    title,
    width: `${width}px`,
    isEnd: true,
    cell: (row) => {
      const count = value(row)
      return count === null ? '–' : shortNumber(count)
    },
    compare: (a, b) => compareNumbers(value(a), value(b)),
    card: 'none',
  }
}
