import { useParams } from '@tanstack/react-router'
import { type ComponentType, Suspense } from 'react'
import type { Code } from '../../api/code.ts'
import type { Tagged } from '../../api/requests/reading.ts'
import { ShownId } from '../../components/shown-id.tsx'
import { titleOf } from '../../components/states/read-state.ts'
import { Shown } from '../../components/states/shown.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { PageMissing } from '../../shell/page/page-missing.tsx'
import { LANGUAGES, PublishedMark } from './code-columns.tsx'
import type { CodeKind, CodeTabProps } from './code-kind.ts'

export interface CodeTab {
  readonly name: string
  readonly text: string
  readonly Content: ComponentType<CodeTabProps>
}

interface CodePageProps {
  readonly kind: CodeKind
  readonly tabs: readonly CodeTab[]
}

/** One transformation or library with its parts. */
export function CodePage({ kind, tabs }: CodePageProps) {
  const { id = '', tab } = useParams({ strict: false }) as { id?: string; tab?: string }
  const reading = kind.useOne(id)
  const current = tabs.find(({ name }) => name === tab)
  if (current === undefined) return <PageMissing />
  const { Content } = current
  return (
    <>
      <PageHead
        title={titleOf<Code>(reading, ({ name }) => name, kind.Thing)}
        meta={reading.data && <CodeMeta code={reading.data} />}
        tabs={tabs.map(({ name, text }) => ({ text, to: `${kind.path}/${id}/${name}`, isCurrent: name === tab }))}
      />
      <Shown<Tagged<Code>> of={reading} thing={kind.Thing} id={id}>
        {(code) => (
          <Suspense>
            {/* Input for one resource must not appear for another. */}
            <Content key={code.id} kind={kind} code={code} />
          </Suspense>
        )}
      </Shown>
    </>
  )
}

function CodeMeta({ code }: { readonly code: Code }) {
  return (
    <>
      <span>{LANGUAGES[code.language]}</span>
      <PublishedMark code={code} />
      <ShownId id={code.id} />
    </>
  )
}
