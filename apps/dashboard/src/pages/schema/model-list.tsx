import type { EventModelWithExtras } from '@millrace/api-types'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { DataTable } from '../../components/table/data-table.tsx'
import { sortedRows } from '../../components/table/table-column.ts'
import { modelColumns, modelName } from './model-columns.tsx'

interface ModelListProps {
  readonly models: readonly EventModelWithExtras[]
  /** By write key; absent if all models belong to one source. */
  readonly sourceNames?: ReadonlyMap<string, string>
  readonly sort?: string | undefined
  readonly onSort?: (sort: string | undefined) => void
}

/** The observed events, each with its schema. */
export function ModelList({ models, sourceNames, sort, onSort }: ModelListProps) {
  const navigate = useNavigate()
  const columns = useMemo(() => modelColumns(sourceNames), [sourceNames])
  return (
    <DataTable
      label="Models"
      columns={columns}
      rows={sortedRows(models, columns, sort)}
      rowId={({ EventID }) => EventID}
      rowName={modelName}
      onOpen={({ EventID }) => void navigate({ to: '/schema/$eventId', params: { eventId: EventID } as never })}
      {...(onSort === undefined ? {} : { sort, onSort })}
    />
  )
}
