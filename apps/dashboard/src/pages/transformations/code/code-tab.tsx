import { Button, Select, TextInput } from '@mantine/core'
import type { Transformation } from '@millrace/api-types'
import { useEffect, useMemo, useRef, useState } from 'react'
import { ApiError } from '../../../api/client.ts'
import type { Code } from '../../../api/code.ts'
import { useLibraries } from '../../../api/libraries.ts'
import { useEventModels } from '../../../api/schemas.ts'
import { ownPlace } from '../../../components/code/failure-places.ts'
import { CodeEditor } from '../../../components/editor/code-editor.tsx'
import type { CodeFault, CodePlace } from '../../../components/editor/editor-props.ts'
import { ChangedMeanwhile } from '../../../components/form/changed-meanwhile.tsx'
import { fieldRefusal, Refusal } from '../../../components/form/refusal.tsx'
import { firstLine } from '../../../components/json/shown-text.ts'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { useSearchValues } from '../../../shell/search-values.ts'
import { useControlKey } from '../../../shell/use-control-key.ts'
import { LANGUAGES } from '../code-columns.tsx'
import { codeCompletions } from '../code-completions.ts'
import { type CodeTabProps, hasDraft } from '../code-kind.ts'
import { codeSearch } from '../code-search.ts'
import { FailedCode } from '../failed-code.tsx'
import styles from '../transformations.module.css'
import { PublishDialog } from '../versions/publish-dialog.tsx'
import { TryPane } from './try-pane.tsx'
import { useWrittenCode } from './use-written-code.ts'

const FIELDS = ['name']

export function CodeTab({ kind, code }: CodeTabProps) {
  const [{ line, column = 1 }] = useSearchValues(codeSearch)
  const writing = useWrittenCode({ kind, code })
  const { written, change, save, isDirty, error } = writing
  const [failure, setFailure] = useState<Error | string>()
  const [publishing, setPublishing] = useState<string>()
  const [isPublished, setPublished] = useState(false)
  const linked = useMemo(() => (line === undefined ? undefined : { line, column }), [line, column])
  const [place, setPlace] = useState<CodePlace | undefined>(linked)
  useEffect(() => setPlace(linked), [linked])
  const runner = useRef<() => void>(() => {})
  const libraries = useLibraries().data
  const models = useEventModels().data
  const completions = useMemo(
    () => codeCompletions({ libraries: (libraries ?? []).map(({ importName }) => importName), models: models ?? [] }),
    [libraries, models],
  )
  const faults = useMemo(() => [...faultsOf(error), ...faultsOf(failure)], [error, failure])
  const refused = fieldRefusal(error, FIELDS)
  useControlKey('s', () => void save())
  const publish = async () => {
    const versionId = isDirty ? await save() : code.versionId
    if (versionId !== undefined) setPublishing(versionId)
  }

  return (
    <>
      <div className={styles.codeHead}>
        <TextInput
          aria-label="Name"
          className={styles.name}
          value={written.name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          error={refused?.text}
        />
        <TextInput
          aria-label="Description"
          placeholder="Description"
          className={styles.description}
          value={written.description}
          onChange={({ currentTarget }) => change({ description: currentTarget.value })}
        />
        <Select
          aria-label="Language"
          className={styles.language}
          data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          value={written.language}
          onChange={(value) => change({ language: value as Code['language'] })}
          allowDeselect={false}
        />
        <div className={styles.codeActions}>
          <span className={styles.dim} role="status">
            {isDirty ? 'Not saved' : ''}
          </span>
          <NeedsRole role="editor">
            <Button variant="default" disabled={!isDirty} loading={writing.isSaving} onClick={() => void save()}>
              Save
            </Button>
          </NeedsRole>
          <NeedsRole role="editor">
            <Button disabled={!isDirty && !hasDraft(code)} onClick={() => void publish()}>
              Publish
            </Button>
          </NeedsRole>
        </div>
      </div>
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
        <Refusal error={error} fields={FIELDS} />
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

/** For a syntax error the place in `details`, for a failed run the first place in this code. */
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
