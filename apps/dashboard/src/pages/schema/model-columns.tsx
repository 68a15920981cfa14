import type { EventModel } from '../../api/schemas.ts'
import { shortNumber } from '../../components/figures/figure-text.ts'
import { shownText } from '../../components/json/shown-text.ts'
import { type Column, compareNumbers, compareTexts } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'

/** What a model is called: events of some types have no name. */
export function modelName({ EventIdentifier, EventType }: EventModel): string {
  return EventIdentifier === '' ? EventType : EventIdentifier
}

/** @param sourceNames by write key; undefined where all are of one source. */
export function modelColumns(sourceNames: ReadonlyMap<string, string> | undefined): readonly Column<EventModel>[] {
  const sourceOf = ({ WriteKey }: EventModel) => sourceNames?.get(WriteKey) ?? 'Deleted source'
  const source: Column<EventModel> = {
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
    figure('events', 'Events', ({ TotalCount }) => TotalCount, 'end'),
    figure('versions', 'Versions', ({ VersionCount }) => VersionCount),
    figure('keys', 'Keys', ({ Schema }) => Object.keys(Schema).length),
    figure('cut', 'Keys cut', ({ CutKeys }) => CutKeys),
    {
      key: 'last',
      title: 'Last seen',
      width: '152px',
      cell: ({ LastSeen }) => <Time at={LastSeen} isInRow />,
      compare: (a, b) => compareTexts(a.LastSeen, b.LastSeen),
    },
  ]
}

function figure(
  key: string,
  title: string,
  value: (model: EventModel) => number,
  card: 'end' | 'none' = 'none',
): Column<EventModel> {
  return {
    key,
    title,
    width: '80px',
    isEnd: true,
    cell: (model) => shortNumber(value(model)),
    compare: (a, b) => compareNumbers(value(a), value(b)),
    card,
  }
}
