import type { Connection, Source } from '@millrace/api-types'
import { useMemo, useState } from 'react'
import { useConnections } from '../../../api/connections.ts'
import { useSources } from '../../../api/sources.ts'
import { Empty } from '../../../components/states/empty.tsx'
import { together } from '../../../components/states/read-state.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import { connectionColumns } from '../../sources/connections/connection-columns.tsx'
import { RemoveDialog } from '../../sources/connections/remove-dialog.tsx'
import type { DestinationTabProps } from '../destination-tab-props.ts'
import { ConnectSource } from './connect-source.tsx'

/** Whose events go there. */
export function DestinationConnections({ destination }: DestinationTabProps) {
  const reading = together({ connections: useConnections(), sources: useSources() })
  const [removed, setRemoved] = useState<Connection>()
  return (
    <Shown of={reading}>
      {({ connections, sources }) => {
        const rows = connections.filter(({ destinationId }) => destinationId === destination.id)
        const taken = new Set(rows.map(({ sourceId }) => sourceId))
        return (
          <>
            <ConnectSource
              destinationId={destination.id}
              free={sources.filter(({ id }) => !taken.has(id))}
              connections={connections.length}
            />
            {rows.length === 0 ? (
              <Empty text="No source is connected. This destination gets no events." />
            ) : (
              <ConnectionTable rows={rows} sources={sources} onRemove={setRemoved} />
            )}
            {removed !== undefined && (
              <RemoveDialog
                connection={removed}
                name={sources.find(({ id }) => id === removed.sourceId)?.name ?? removed.sourceId}
                onClose={() => setRemoved(undefined)}
              />
            )}
          </>
        )
      }}
    </Shown>
  )
}

interface ConnectionTableProps {
  readonly rows: readonly Connection[]
  readonly sources: readonly Source[]
  readonly onRemove: (connection: Connection) => void
}

const SOURCES = { title: 'Source', path: '/sources/$id', idOf: ({ sourceId }: Connection) => sourceId } as const

function ConnectionTable({ rows, sources, onRemove }: ConnectionTableProps) {
  const columns = useMemo(
    () => connectionColumns({ ...SOURCES, byId: new Map(sources.map((each) => [each.id, each])) }, onRemove),
    [sources, onRemove],
  )
  return <DataTable label="Connections" columns={columns} rows={rows} rowId={({ id }) => id} />
}
