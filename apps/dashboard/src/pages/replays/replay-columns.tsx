import type { Replay } from '@millrace/api-types'
import { counted } from '@millrace/wording'
import { ShareBar } from '../../components/figures/share-bar.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { Column } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'
import { outcomeParts, progressShare, progressText, replayKind, replayState } from './replay-words.ts'

export function replayColumns(nameOf: (destinationId: string) => string): readonly Column<Replay>[] {
  return [
    {
      key: 'created',
      title: 'Started',
      width: '128px',
      cell: ({ createdAt }) => <Time at={createdAt} isInRow />,
      card: 'end',
    },
    { key: 'kind', title: 'What', width: 'minmax(140px, 1.6fr)', cell: replayKind, card: 'title' },
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
      width: 'minmax(200px, 1.6fr)',
      cell: (replay) => <StateMark kind={replayState(replay).kind}>{replayState(replay).word}</StateMark>,
    },
    {
      key: 'progress',
      title: 'Progress',
      width: 'minmax(180px, 1fr)',
      cell: (replay) => (
        <ShareBar share={progressShare(replay)} parts={outcomeParts(replay)} text={progressText(replay)} />
      ),
      card: 'none',
    },
    { key: 'by', title: 'By', width: 'minmax(96px, 1fr)', cell: ({ createdBy }) => createdBy, card: 'none' },
  ]
}
