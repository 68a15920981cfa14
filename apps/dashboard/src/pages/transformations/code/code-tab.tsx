import { Button } from '@mantine/core'
import type { Transformation } from '@millrace/api-types'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Code } from '../../../api/code.ts'
import { useLibraries } from '../../../api/libraries.ts'
import { ApiError } from '../../../api/requests/client.ts'
import { useEventModels } from '../../../api/schemas.ts'
import { ownPlace } from '../../../components/code/failure-places.ts'
import { CodeEditor } from '../../../components/editor/code-editor.tsx'
import type { CodeFault, CodePlace } from '../../../components/editor/editor-props.ts'
import { ChangedMeanwhile } from '../../../components/form/changed-meanwhile.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { firstLine } from '../../../components/json/shown-text.ts'
import { useMay } from '../../../components/needs-role.tsx'
import { useControlKey } from '../../../shell/keys/use-control-key.ts'
import { useSearchValues } from '../../../shell/search-values.ts'
import { codeCompletions } from '../code-completions.ts'
import type { CodeTabProps } from '../code-kind.ts'
import { codeSearch } from '../code-search.ts'
import { FailedCode } from '../failed-code.tsx'
import styles from '../transformations.module.css'
import { PublishDialog } from '../versions/publish-dialog.tsx'
import { CodeHead, HEAD_FIELDS } from './code-head.tsx'
import { TryPane } from './try-pane.tsx'
import { useWrittenCode } from './use-written-code.ts'

export function CodeTab({ kind, code }: CodeTabProps) {
  const [{ line, column = 1 }] = useSearchValues(codeSearch)
  const writing = useWrittenCode({ kind, code })
  const { written, change, save, isDirty, error } = writing
  const mayEdit = useMay('editor')
  const [failure, setFailure] = useState<Error | string>()
  const [publishing, setPublishing] = useState<string>()
  const [isPublished, setPublished] = useState(false)
  const linked = useMemo(() => (line === undefined ? undefined : { line, column }), [line, column])
  const [place, setPlace] = useState<CodePlace | undefined>(linked)
  useEffect(() => setPlace(linked), [linked])
  const runner = useRef<() => void>(() => {})
  const completions = useCodeCompletions()
  const faults = useMemo(() => [...faultsOf(error), ...faultsOf(failure)], [error, failure])
  useControlKey('s', () => {
    if (mayEdit && isDirty) void save()
  })
  const publish = async () => {
    const versionId = isDirty ? await save() : code.versionId
    if (versionId !== undefined) setPublishing(versionId)
  }

  return (
    <>
      <CodeHead code={code} writing={writing} onPublish={() => void publish()} />
      {isPublished && <FailedCode code={code} />}
      {writing.isKept && !writing.isChanged && (
        <div className={styles.notice} role="status">
          <span>This code is an unsaved draft in this browser.</span>
          <Button variant="default" onClick={writing.discard}>
            Discard it
          </Button>
        </div>
      )}
      {writing.isChanged ? (
        <ChangedMeanwhile
          thing={kind.thing}
          theirs={writing.theirs?.code}
          mine={written.code}
          onLoadTheirs={writing.discard}
          onKeepMine={() => void save(writing.theirs?.etag ?? null)}
        />
      ) : (
        <Refusal error={error} fields={HEAD_FIELDS} />
      )}
      <div className={styles.code} data-alone={kind.thing === 'library' || undefined}>
        <section className={styles.pane} aria-label="Code">
          <CodeEditor
            label="Code"
            language={written.language}
            value={written.code}
            onChange={(code) => change({ code })}
            onRun={() => runner.current()}
            faults={faults}
            place={place}
            completions={completions}
            minHeight={420}
            maxHeight="72vh"
          />
        </section>
        {kind.thing === 'transformation' && (
          <TryPane
            transformation={code as Code as Transformation}
            written={written}
            runner={runner}
            onPlace={setPlace}
            onFailure={setFailure}
          />
        )}
      </div>
      {publishing !== undefined && (
        <PublishDialog
          kind={kind}
          code={code}
          versionId={publishing}
          onClose={() => setPublishing(undefined)}
          onPublished={() => setPublished(true)}
        />
      )}
    </>
  )
}

/** Completions from the workspace's libraries and event models. */
function useCodeCompletions() {
  const libraries = useLibraries().data
  const models = useEventModels().data
  return useMemo(
    () => codeCompletions({ libraries: (libraries ?? []).map(({ importName }) => importName), models: models ?? [] }),
    [libraries, models],
  )
}

/** Of a syntax error the place that `details` name, of a failed run the first place in this code. */
function faultsOf(failure: Error | string | null | undefined): CodeFault[] {
  if (failure === null || failure === undefined) return []
  if (typeof failure === 'string') {
    const place = ownPlace(failure)
    return place === undefined ? [] : [{ ...place, message: firstLine(failure) }]
  }
  const { line, column } = failure instanceof ApiError ? (failure.details ?? {}) : {}
  if (typeof line !== 'number') return []
  return [{ line, column: typeof column === 'number' ? column : 1, message: failure.message }]
}
