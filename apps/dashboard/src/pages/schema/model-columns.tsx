import type { EventModelWithExtras } from '@millrace/api-types'
import { shownText } from '../../components/json/shown-text.ts'
import { countColumn } from '../../components/table/count-column.ts'
import { type Column, compareTexts } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'

/** Title of a model: events of some types have no name. */
export function modelName({ EventIdentifier, EventType }: EventModelWithExtras): string {
  return EventIdentifier === '' ? EventType : EventIdentifier
}

/** @param sourceNames by write key; undefined if all models belong to one source. */
export function modelColumns(
  sourceNames: ReadonlyMap<string, string> | undefined,
): readonly Column<EventModelWithExtras>[] {
  const sourceOf = ({ WriteKey }: EventModelWithExtras) => sourceNames?.get(WriteKey) ?? 'Deleted source'
  const source: Column<EventModelWithExtras> = {
    key: 'source',
    title: 'Source',
    width: 'minmax(112px, 1fr)',
    cell: sourceOf,
    compare: (a, b) => compareTexts(sourceOf(a), sourceOf(b)),
  }
  return [
    {
      key: 'name',
      title: 'Event',
      width: 'minmax(160px, 2fr)',
      cell: (model) => shownText(modelName(model)),
      compare: (a, b) => compareTexts(modelName(a), modelName(b)),
      card: 'title',
    },
    {
      key: 'type',
      title: 'Type',
      width: '88px',
      cell: ({ EventType }) => EventType,
      compare: (a, b) => compareTexts(a.EventType, b.EventType),
    },
    ...(sourceNames === undefined ? [] : [source]),
    countColumn({ key: 'events', title: 'Events', width: '80px', value: ({ TotalCount }) => TotalCount, card: 'end' }),
    countColumn({ key: 'versions', title: 'Versions', width: '80px', value: ({ VersionCount }) => VersionCount }),
    countColumn({ key: 'keys', title: 'Keys', width: '80px', value: ({ Schema }) => Object.keys(Schema).length }),
    countColumn({ key: 'cut', title: 'Keys cut', width: '80px', value: ({ CutKeys }) => CutKeys }),
    {
      key: 'last',
      title: 'Last seen',
      width: '152px',
      cell: ({ LastSeen }) => <Time at={LastSeen} isInRow />,
      isTitledInCard: true,
      compare: (a, b) => compareTexts(a.LastSeen, b.LastSeen),
    },
  ]
}
