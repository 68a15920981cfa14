import { Skeleton } from '@mantine/core'
import { Suspense } from 'react'
import { lazyPart } from '../lazy-part.ts'
import { PanelBoundary } from '../states/panel-boundary.tsx'
import type { EditorProps } from './editor-props.ts'

const Editor = lazyPart(() => import('./editor.tsx').then(({ Editor }) => ({ default: Editor })))

/** The editor, loaded when the first one is shown. @see contracts/dashboard.md §8 [U11] */
export function CodeEditor(props: EditorProps) {
  return (
    <PanelBoundary>
      <Suspense fallback={<Skeleton height={props.minHeight ?? 320} />}>
        <Editor {...props} />
      </Suspense>
    </PanelBoundary>
  )
}
