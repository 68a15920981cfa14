import type { Source } from '@millrace/api-types'
import { ShownId } from '../../components/shown-id.tsx'
import { OnOffMark, StateMark } from '../../components/state-mark.tsx'
import { countColumn } from '../../components/table/count-column.ts'
import { type Column, compareTexts } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'
import { homeTexts } from '../../texts.ts'
import type { SourceActivity } from './source-activity.ts'

/** @param connected ids of the connected sources; undefined until they are loaded. */
export function sourceColumns(
  activity: ReadonlyMap<string, SourceActivity>,
  connected: ReadonlySet<string> | undefined,
): readonly Column<Source>[] {
  const goesNowhere = (source: Source) =>
    source.enabled && connected?.has(source.id) === false && lastEventAt(source) !== null
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
      width: 'minmax(168px, 1fr)',
      cell: (source) =>
        goesNowhere(source) ? (
          <StateMark kind="refused">{homeTexts.unconnected}</StateMark>
        ) : (
          <OnOffMark isOn={source.enabled} />
        ),
      compare: (a, b) => Number(b.enabled) - Number(a.enabled),
      card: 'end',
    },
    countColumn({ key: 'rate', title: 'Events/min', width: '96px', value: perMinute, card: 'meta' }),
    {
      key: 'last',
      title: 'Last event',
      width: '152px',
      cell: (source) => <Time at={lastEventAt(source)} isInRow />,
      isTitledInCard: true,
      compare: (a, b) => compareTexts(lastEventAt(a) ?? '', lastEventAt(b) ?? ''),
    },
    { key: 'id', title: 'Id', width: '264px', cell: ({ id }) => <ShownId id={id} />, card: 'none' },
  ]
}
