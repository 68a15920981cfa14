import type { Code } from '../../api/code.ts'
import { ShownId } from '../../components/shown-id.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { type Column, compareTexts } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'
import { hasDraft } from './code-kind.ts'

/** The common columns of transformations and libraries, around their own columns. */
export function codeColumns<T extends Code>(own: readonly Column<T>[]): readonly Column<T>[] {
  return [
    {
      key: 'name',
      title: 'Name',
      width: 'minmax(160px, 2fr)',
      cell: ({ name }) => name,
      compare: (a, b) => compareTexts(a.name, b.name),
      card: 'title',
    },
    { key: 'language', title: 'Language', width: '104px', cell: ({ language }) => LANGUAGES[language] },
    ...own,
    {
      key: 'state',
      title: 'State',
      width: '128px',
      cell: (code) => <PublishedMark code={code} />,
      compare: (a, b) => Number(hasDraft(b)) - Number(hasDraft(a)),
      card: 'end',
    },
    {
      key: 'changed',
      title: 'Changed',
      width: '152px',
      cell: ({ updatedAt }) => <Time at={updatedAt} isInRow />,
      isTitledInCard: true,
    },
    { key: 'id', title: 'Id', width: '264px', cell: ({ id }) => <ShownId id={id} />, card: 'none' },
  ]
}

export const LANGUAGES: Readonly<Record<Code['language'], string>> = {
  javascript: 'JavaScript',
  typescript: 'TypeScript',
}

/** Whether the newest version is published. */
export function PublishedMark({ code }: { readonly code: Code }) {
  if (code.publishedVersionId === null) return <StateMark kind="off">never published</StateMark>
  return hasDraft(code) ? <StateMark kind="waiting">draft</StateMark> : <StateMark kind="ok">published</StateMark>
}
