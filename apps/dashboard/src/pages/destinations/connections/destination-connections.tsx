import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type Connection, useConnections } from '../../../api/connections.ts'
import { type Source, useSources } from '../../../api/sources.ts'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { together } from '../../../components/states/read-state.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import type { Column } from '../../../components/table/table-column.ts'
import { ConnectedSwitch } from '../../sources/connections/connection-columns.tsx'
import { RemoveDialog } from '../../sources/connections/remove-dialog.tsx'
import type { DestinationTabProps } from '../destination-page.tsx'
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
              <Empty text="No source is connected. Nothing comes here." />
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

function ConnectionTable({ rows, sources, onRemove }: ConnectionTableProps) {
  const columns = useMemo<readonly Column<Connection>[]>(() => {
    const byId = new Map(sources.map((source) => [source.id, source]))
    const nameOf = (id: string) => byId.get(id)?.name ?? id
    return [
      {
        key: 'name',
        title: 'Source',
        width: 'minmax(160px, 2fr)',
        cell: ({ sourceId }) => (
          <Link to="/sources/$id" params={{ id: sourceId } as never}>
            {nameOf(sourceId)}
          </Link>
        ),
        card: 'title',
      },
      { key: 'type', title: 'Type', width: 'minmax(96px, 1fr)', cell: ({ sourceId }) => byId.get(sourceId)?.type },
      {
        key: 'state',
        title: 'Source is',
        width: '112px',
        cell: ({ sourceId }) => {
          const isOn = byId.get(sourceId)?.enabled
          return isOn === undefined ? null : <StateMark kind={isOn ? 'ok' : 'off'}>{isOn ? 'on' : 'off'}</StateMark>
        },
      },
      {
        key: 'enabled',
        title: 'Connected',
        width: '96px',
        cell: (connection) => <ConnectedSwitch connection={connection} name={nameOf(connection.sourceId)} />,
        card: 'end',
      },
      {
        key: 'remove',
        title: 'Action',
        width: '88px',
        isEnd: true,
        cell: (connection) => (
          <NeedsRole role="editor">
            <Button size="compact-xs" variant="subtle" color="bad" onClick={() => onRemove(connection)}>
              Remove
            </Button>
          </NeedsRole>
        ),
      },
    ]
  }, [sources, onRemove])
  return <DataTable label="Connections" columns={columns} rows={rows} rowId={({ id }) => id} />
}
