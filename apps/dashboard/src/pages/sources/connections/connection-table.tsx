import type { Connection } from '@millrace/api-types'
import { useMemo, useState } from 'react'
import { useSwitchConnection } from '../../../api/connections.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import { connectionColumns, type OtherEnds } from './connection-columns.tsx'
import { RemoveDialog } from './remove-dialog.tsx'

interface ConnectionTableProps {
  readonly rows: readonly Connection[]
  /** Must stay the same object while nothing changes. */
  readonly ends: OtherEnds
}

/** The connections of a source or destination: each can be switched off or removed. */
export function ConnectionTable({ rows, ends }: ConnectionTableProps) {
  const { mutate, isPending, error } = useSwitchConnection()
  const [removed, setRemoved] = useState<Connection>()
  const columns = useMemo(
    () => connectionColumns(ends, { switching: { mutate, isPending }, onRemove: setRemoved }),
    [ends, mutate, isPending],
  )
  return (
    <>
      <Refusal error={error} />
      <DataTable label="Connections" columns={columns} rows={rows} rowId={({ id }) => id} />
      {removed !== undefined && (
        <RemoveDialog
          connection={removed}
          name={ends.byId.get(ends.idOf(removed))?.name ?? ends.idOf(removed)}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  )
}
