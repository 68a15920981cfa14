import { counted } from '@millrace/wording'
import type { Replay } from '../../api/replays.ts'
import { ShareBar } from '../../components/figures/share-bar.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { Column } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'
import { progressShare, progressText, replayKind, STATE_MARKS } from './replay-words.ts'

export function replayColumns(nameOf: (destinationId: string) => string): readonly Column<Replay>[] {
  return [
    {
      key: 'created',
      title: 'Started',
      width: '128px',
      cell: ({ createdAt }) => <Time at={createdAt} isInRow />,
      card: 'end',
    },
    { key: 'kind', title: 'What', width: 'minmax(140px, 1fr)', cell: replayKind, card: 'title' },
    {
      key: 'destination',
      title: 'Destination',
      width: 'minmax(120px, 1fr)',
      cell: ({ destinationIds: [first, ...others] }) =>
        first === undefined ? '–' : others.length === 0 ? nameOf(first) : counted(others.length + 1, 'destination'),
    },
    {
      key: 'state',
      title: 'State',
      width: '104px',
      cell: ({ state }) => <StateMark kind={STATE_MARKS[state]}>{state}</StateMark>,
    },
    {
      key: 'progress',
      title: 'Progress',
      width: 'minmax(180px, 1fr)',
      cell: (replay) => <ShareBar share={progressShare(replay)} text={progressText(replay)} />,
      card: 'none',
    },
    { key: 'by', title: 'By', width: 'minmax(96px, 1fr)', cell: ({ createdBy }) => createdBy, card: 'none' },
  ]
}
