import type { Source } from '../../api/sources.ts'
import { shortNumber } from '../../components/figures/figure-text.ts'
import { ShownId } from '../../components/shown-id.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { type Column, compareNumbers, compareTexts } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'
import type { SourceActivity } from './source-activity.ts'

export function sourceColumns(activity: ReadonlyMap<string, SourceActivity>): readonly Column<Source>[] {
  const perMinute = ({ id }: Source) => activity.get(id)?.perMinute ?? null
  const lastEventAt = ({ id }: Source) => activity.get(id)?.lastEventAt ?? null
  return [
    {
      key: 'name',
      title: 'Name',
      width: 'minmax(160px, 2fr)',
      cell: ({ name }) => name,
      compare: (a, b) => compareTexts(a.name, b.name),
      card: 'title',
    },
    {
      key: 'type',
      title: 'Type',
      width: 'minmax(88px, 1fr)',
      cell: ({ type }) => type,
      compare: (a, b) => compareTexts(a.type, b.type),
    },
    {
      key: 'state',
      title: 'State',
      width: '80px',
      cell: ({ enabled }) => <StateMark kind={enabled ? 'ok' : 'off'}>{enabled ? 'on' : 'off'}</StateMark>,
      compare: (a, b) => Number(b.enabled) - Number(a.enabled),
      card: 'end',
    },
    {
      key: 'rate',
      title: 'Events/min',
      width: '96px',
      isEnd: true,
      cell: (source) => {
        const value = perMinute(source)
        return value === null ? '–' : shortNumber(value)
      },
      compare: (a, b) => compareNumbers(perMinute(a), perMinute(b)),
    },
    {
      key: 'last',
      title: 'Last event',
      width: '152px',
      cell: (source) => <Time at={lastEventAt(source)} isInRow />,
      compare: (a, b) => compareTexts(lastEventAt(a) ?? '', lastEventAt(b) ?? ''),
    },
    { key: 'id', title: 'Id', width: '264px', cell: ({ id }) => <ShownId id={id} />, card: 'none' },
  ]
}
