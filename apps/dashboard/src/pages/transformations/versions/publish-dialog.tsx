import { Button } from '@mantine/core'
import type { Transformation } from '@millrace/api-types'
import { useEffect } from 'react'
import type { Code } from '../../../api/code.ts'
import { useRunTransformationTests, useTransformationTests } from '../../../api/transformations.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { DiffView } from '../../../components/diff/diff-view.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import { transformationTexts } from '../../../texts.ts'
import type { CodeTabProps } from '../code-kind.ts'
import styles from '../transformations.module.css'

interface PublishDialogProps extends CodeTabProps {
  /** The version to publish. */
  readonly versionId: string
  readonly onClose: () => void
  readonly onPublished: () => void
}

/** Shows the changes, runs the stored tests, lists the affected destinations; then publishes. */
export function PublishDialog({ kind, code, versionId, onClose, onPublished }: PublishDialogProps) {
  const before = kind.useVersion(code.id, code.publishedVersionId ?? undefined).data
  const after = kind.useVersion(code.id, versionId).data
  const { mutateAsync, error, isPending } = kind.usePublish()
  const failed = useFailedTests(kind.thing === 'transformation' ? code.id : undefined, versionId)
  const publish = async () => {
    const done = await mutateAsync({ id: code.id, versionId, etag: code.etag }).catch(() => undefined)
    if (done === undefined) return
    onPublished()
    onClose()
  }
  return (
    <Dialog title={`Publish ${code.name}`} size="xl" isWriting={isPending} onClose={onClose}>
      <div className={styles.publish}>
        <p>{governs(kind.thing, code)}</p>
        {after !== undefined && (before !== undefined || code.publishedVersionId === null) && (
          <DiffView
            before={before?.code ?? ''}
            after={after.code}
            what="published version and this version"
            same="The code is the same."
          />
        )}
        {failed !== undefined && <TestsMark {...failed} />}
        <Refusal error={error} />
        <div className={styles.actions}>
          <Button variant="default" disabled={isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button loading={isPending} disabled={failed?.isRunning ?? false} onClick={() => void publish()}>
            {(failed?.count ?? 0) > 0 ? transformationTexts.publishAlthough(failed!.count) : 'Publish'}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

interface FailedTests {
  readonly isRunning: boolean
  readonly total: number
  readonly count: number
  readonly error: Error | null
}

/** Runs the stored tests on the version; undefined without tests. */
function useFailedTests(id: string | undefined, versionId: string): FailedTests | undefined {
  const stored = useTransformationTests(id ?? '', { isEnabled: id !== undefined }).data?.tests
  const { mutate, data, error } = useRunTransformationTests()
  const total = stored?.length ?? 0
  useEffect(() => {
    if (id !== undefined && total > 0) mutate({ id, versionId })
  }, [id, versionId, total, mutate])
  if (id === undefined) return undefined
  const results = data?.body.results ?? []
  return {
    isRunning: stored === undefined || (total > 0 && data === undefined && error === null),
    total,
    count: results.filter(({ status }) => status !== 'pass').length,
    error,
  }
}

function TestsMark({ isRunning, total, count, error }: FailedTests) {
  if (isRunning) return <StateMark kind="waiting">stored tests run …</StateMark>
  if (error !== null) return <Refusal error={error} />
  if (total === 0) return <p className={styles.dim}>{transformationTexts.noTests}</p>
  if (count === 0) return <StateMark kind="ok">{`${total} of ${total} stored tests pass`}</StateMark>
  return <StateMark kind="failed">{`${count} of ${total} stored tests fail`}</StateMark>
}

function governs(thing: string, code: Code): string {
  if (thing === 'library') return 'Transformations use it after they are published again.'
  return transformationTexts.governs((code as Code as Transformation).destinations.length)
}
