import { Button } from '@mantine/core'
import type { TransformationTest, TransformationTestsRun } from '@millrace/api-types'
import type { JsonValue } from '@millrace/protocol/json'
import { type ReactNode, useState } from 'react'
import {
  useRunTransformationTests,
  useSaveTransformationTests,
  useTransformationTests,
} from '../../api/transformations.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DiffView } from '../../components/diff/diff-view.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import { JsonView } from '../../components/json/json-view.tsx'
import { shownText } from '../../components/json/shown-text.ts'
import { NeedsRole } from '../../components/needs-role.tsx'
import { type MarkKind, StateMark } from '../../components/state-mark.tsx'
import { Empty } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { transformationTexts } from '../../texts.ts'
import type { CodeTabProps } from './code-kind.ts'
import { EditTest } from './edit-test.tsx'
import type { StoredTests } from './stored-tests.ts'
import styles from './transformations.module.css'

type Result = TransformationTestsRun['results'][number]

/** The stored tests, and their results for the newest version. */
export function TestsTab({ code }: CodeTabProps) {
  const reading = useTransformationTests(code.id)
  const run = useRunTransformationTests()
  const { mutateAsync } = useSaveTransformationTests()
  const [removing, setRemoving] = useState<TransformationTest>()
  const [editing, setEditing] = useState<StoredTests & { readonly id: string }>()
  const results = run.data?.body.results ?? []
  return (
    <Shown of={reading}>
      {({ tests, etag }) =>
        tests.length === 0 ? (
          <Empty text={transformationTexts.noTests} />
        ) : (
          <>
            <div className={styles.filters}>
              <NeedsRole role="editor">
                <Button loading={run.isPending} onClick={() => run.mutate({ id: code.id, versionId: code.versionId })}>
                  Run all
                </Button>
              </NeedsRole>
            </div>
            <Refusal error={run.error} />
            <ul className={styles.tests}>
              {tests.map((test) => (
                <StoredTest
                  key={test.id}
                  test={test}
                  result={results.find(({ id }) => id === test.id)}
                  onEdit={() => setEditing({ id: test.id, tests, etag })}
                  onRemove={() => setRemoving(test)}
                  form={
                    editing?.id === test.id ? (
                      <EditTest
                        transformationId={code.id}
                        test={test}
                        stored={editing}
                        // Earlier results belong to the earlier tests.
                        onSaved={run.reset}
                        onClose={() => setEditing(undefined)}
                      />
                    ) : undefined
                  }
                />
              ))}
            </ul>
            {removing !== undefined && (
              <ConfirmDialog
                title={`Remove the test “${removing.name}”`}
                action="Remove"
                onConfirm={() =>
                  mutateAsync({ id: code.id, etag, tests: tests.filter(({ id }) => id !== removing.id) })
                }
                onClose={() => setRemoving(undefined)}
              />
            )}
          </>
        )
      }
    </Shown>
  )
}

const MARKS: Readonly<Record<Result['status'], MarkKind>> = { pass: 'ok', fail: 'failed', error: 'failed' }

interface StoredTestProps {
  readonly test: TransformationTest
  /** Result of the last run. */
  readonly result: Result | undefined
  readonly onEdit: () => void
  readonly onRemove: () => void
  /** True while it is being edited. */
  readonly form: ReactNode | undefined
}

function StoredTest({ test, result, onEdit, onRemove, form }: StoredTestProps) {
  const hasFailed = result !== undefined && result.status !== 'pass'
  return (
    <li className={styles.test}>
      <details open={hasFailed}>
        <summary className={styles.testHead}>
          <span>{test.name}</span>
          {result !== undefined && <StateMark kind={MARKS[result.status]}>{result.status}</StateMark>}
        </summary>
        <div className={styles.testBody}>
          {result?.errors.map((error) => (
            <pre key={error} className={styles.errorText}>
              {shownText(error)}
            </pre>
          ))}
          {result?.status === 'fail' ? (
            <>
              <p className={styles.dim}>Expected and actual</p>
              <DiffView
                before={test.expectedOutput as JsonValue}
                after={result.actualOutput as JsonValue}
                what={`expected and actual events of ${test.name}`}
              />
            </>
          ) : (
            form === undefined && <Sides test={test} />
          )}
          {form ?? (
            <div className={styles.actions}>
              <NeedsRole role="editor">
                <Button variant="default" onClick={onEdit}>
                  Edit
                </Button>
              </NeedsRole>
              <NeedsRole role="editor">
                <Button variant="default" onClick={onRemove}>
                  Remove
                </Button>
              </NeedsRole>
            </div>
          )}
        </div>
      </details>
    </li>
  )
}

function Sides({ test: { input, expectedOutput } }: { readonly test: TransformationTest }) {
  return (
    <div className={styles.testSides}>
      <div>
        <p className={styles.dim}>Events</p>
        <JsonView value={input} what="events" maxHeight={320} />
      </div>
      <div>
        <p className={styles.dim}>Expected</p>
        <JsonView value={expectedOutput} what="expected events" maxHeight={320} />
      </div>
    </div>
  )
}
