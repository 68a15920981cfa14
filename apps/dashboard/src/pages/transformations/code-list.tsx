import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Code } from '../../api/code.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { isPartOf } from '../../components/part-of.ts'
import { SearchField } from '../../components/search-field.tsx'
import { Empty, EmptyByFilter } from '../../components/states/empty.tsx'
import type { ReadState } from '../../components/states/read-state.ts'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import { type Column, sortedRows } from '../../components/table/table-column.ts'
import { PageHead } from '../../shell/page/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { codeListSearch } from './code-search.ts'
import styles from './transformations.module.css'

interface CodeListProps<T extends Code> {
  readonly title: 'Transformations' | 'Libraries'
  readonly path: '/transformations' | '/libraries'
  readonly list: '/v2/transformations' | '/v2/libraries'
  readonly of: ReadState<readonly T[]>
  readonly columns: readonly Column<T>[]
  readonly empty: string
  /** Label of the button. */
  readonly newText: string
  readonly dialog: (close: () => void) => ReactNode
}

/** The list of transformations, or of libraries. */
export function CodeList<T extends Code>({ title, path, list, of, columns, empty, newText, dialog }: CodeListProps<T>) {
  const [{ q = '', sort }, set] = useSearchValues(codeListSearch)
  const [isMaking, setMaking] = useState(false)
  const navigate = useNavigate()
  const newButton = (
    <NeedsRole role="editor">
      <Button onClick={() => setMaking(true)}>{newText}</Button>
    </NeedsRole>
  )
  return (
    <>
      <PageHead
        title={title}
        actions={
          <>
            <ApiPopover path={list} query={{ q }} rows={of.data?.length} />
            {newButton}
          </>
        }
        tabs={[
          { text: 'Transformations', to: '/transformations', isCurrent: title === 'Transformations' },
          { text: 'Libraries', to: '/libraries', isCurrent: title === 'Libraries' },
        ]}
      />
      <Shown of={of}>
        {(all) => {
          const rows = sortedRows(
            all.filter(({ id, name }) => isPartOf(q, id, name)),
            columns,
            sort,
          )
          if (all.length === 0) return <Empty text={empty}>{newButton}</Empty>
          return (
            <>
              <div className={styles.filters}>
                <SearchField label="Name or id" className={styles.filter} value={q} onChange={(q) => set({ q })} />
              </div>
              {rows.length === 0 ? (
                <EmptyByFilter onClear={() => set({ q: undefined })} />
              ) : (
                <DataTable
                  label={title}
                  columns={columns}
                  rows={rows}
                  rowId={({ id }) => id}
                  rowName={({ name }) => name}
                  onOpen={({ id }) => void navigate({ to: `${path}/${id}/code` as string })}
                  sort={sort}
                  onSort={(sort) => set({ sort })}
                />
              )}
            </>
          )
        }}
      </Shown>
      {isMaking && dialog(() => setMaking(false))}
    </>
  )
}
