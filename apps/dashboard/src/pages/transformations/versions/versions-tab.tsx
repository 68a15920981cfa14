import { Button, Select } from '@mantine/core'
import type { CodeVersionHead } from '@millrace/api-types'
import { useState } from 'react'
import { DiffView } from '../../../components/diff/diff-view.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { ShownId } from '../../../components/shown-id.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import { together } from '../../../components/states/read-state.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import type { Column } from '../../../components/table/table-column.ts'
import { Time } from '../../../components/time/time.tsx'
import { localTime } from '../../../components/time/time-text.ts'
import { useSearchValues } from '../../../shell/search-values.ts'
import type { CodeTabProps } from '../code-kind.ts'
import { codeSearch } from '../code-search.ts'
import { FailedCode } from '../failed-code.tsx'
import styles from '../transformations.module.css'
import { PublishDialog } from './publish-dialog.tsx'

/** Every version, the diff of two, and publishing an older one again. */
export function VersionsTab({ kind, code }: CodeTabProps) {
  const versions = kind.useVersions(code.id)
  const [{ version, against }, set] = useSearchValues(codeSearch)
  const [publishing, setPublishing] = useState<string>()
  const [isPublished, setPublished] = useState(false)
  return (
    <Shown of={versions}>
      {(all) => {
        const newestFirst = all.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
        const at = Math.max(
          newestFirst.findIndex(({ versionId }) => versionId === version),
          0,
        )
        const shown = newestFirst[at]
        const other = newestFirst.find(({ versionId }) => versionId === against) ?? newestFirst[at + 1]
        return (
          <div className={styles.versions}>
            <DataTable
              label="Versions"
              columns={COLUMNS}
              rows={newestFirst}
              rowId={({ versionId }) => versionId}
              rowName={({ createdAt, createdBy }) => `Version of ${createdAt} by ${createdBy}`}
              currentId={shown?.versionId}
              onOpen={({ versionId }) => set({ version: versionId, against: undefined }, 'push')}
            />
            {shown !== undefined && (
              <section className={styles.compared} aria-label="Difference">
                <div className={styles.comparedHead}>
                  <Select
                    className={styles.against}
                    aria-label="Against"
                    placeholder="Against an empty file"
                    data={newestFirst
                      .filter(({ versionId }) => versionId !== shown.versionId)
                      .map((each) => ({ value: each.versionId, label: `Against ${versionText(each)}` }))}
                    value={other?.versionId ?? null}
                    onChange={(against) => against !== null && set({ version: shown.versionId, against })}
                    allowDeselect={false}
                  />
                  {!shown.published && (
                    <NeedsRole role="editor">
                      <Button onClick={() => setPublishing(shown.versionId)}>Publish this version</Button>
                    </NeedsRole>
                  )}
                </div>
                <Compared kind={kind} code={code} before={other?.versionId} after={shown.versionId} />
              </section>
            )}
            {isPublished && <FailedCode code={code} />}
            {publishing !== undefined && (
              <PublishDialog
                kind={kind}
                code={code}
                versionId={publishing}
                onClose={() => setPublishing(undefined)}
                onPublished={() => setPublished(true)}
              />
            )}
          </div>
        )
      }}
    </Shown>
  )
}

function versionText({ createdAt, createdBy, published }: CodeVersionHead): string {
  return `${localTime(new Date(createdAt), new Date(), 'second')} by ${createdBy}${published ? ', published' : ''}`
}

const COLUMNS: readonly Column<CodeVersionHead>[] = [
  {
    key: 'at',
    title: 'Saved',
    width: '152px',
    cell: ({ createdAt }) => <Time at={createdAt} isInRow />,
    card: 'title',
  },
  { key: 'by', title: 'By', width: 'minmax(120px, 1fr)', cell: ({ createdBy }) => createdBy },
  {
    key: 'state',
    title: 'State',
    width: '112px',
    cell: ({ published }) => (
      <StateMark kind={published ? 'ok' : 'off'}>{published ? 'published' : 'not in use'}</StateMark>
    ),
    card: 'end',
  },
  {
    key: 'id',
    title: 'Version',
    width: 'minmax(96px, 1fr)',
    cell: ({ versionId }) => <ShownId id={versionId} what="version id" />,
    card: 'none',
  },
]

interface ComparedProps extends CodeTabProps {
  readonly before: string | undefined
  readonly after: string
}

function Compared({ kind, code, before, after }: ComparedProps) {
  const one = kind.useVersion(code.id, before)
  const two = kind.useVersion(code.id, after)
  // The first version has no predecessor.
  const queries = before === undefined ? { two } : { one, two }
  return (
    <Shown of={together<{ two: typeof two; one?: typeof one }>(queries as { two: typeof two; one?: typeof one })}>
      {() => (
        <DiffView
          before={one.data?.code ?? ''}
          after={two.data!.code}
          what="difference of two versions"
          same="The code is the same."
        />
      )}
    </Shown>
  )
}
