import type { Connection, Source } from '@millrace/api-types'
import { useMemo } from 'react'
import { useConnections } from '../../../api/connections.ts'
import { useSources } from '../../../api/sources.ts'
import { Empty } from '../../../components/states/empty.tsx'
import { together } from '../../../components/states/read-state.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { ConnectEnd } from '../../sources/connections/connect-end.tsx'
import { ConnectionTable } from '../../sources/connections/connection-table.tsx'
import type { DestinationTabProps } from '../destination-tab-props.ts'

/** Whose events go there. */
export function DestinationConnections({ destination }: DestinationTabProps) {
  const reading = together({ connections: useConnections(), sources: useSources() })
  return (
    <Shown of={reading}>
      {({ connections, sources }) => {
        const rows = connections.filter(({ destinationId }) => destinationId === destination.id)
        const taken = new Set(rows.map(({ sourceId }) => sourceId))
        return (
          <>
            <ConnectEnd
              end="Source"
              connectionTo={(sourceId) => ({ sourceId, destinationId: destination.id })}
              free={sources.filter(({ id }) => !taken.has(id))}
              connections={connections.length}
            />
            {rows.length === 0 ? (
              <Empty text="No source is connected. This destination gets no events." />
            ) : (
              <Table rows={rows} sources={sources} />
            )}
          </>
        )
      }}
    </Shown>
  )
}

interface TableProps {
  readonly rows: readonly Connection[]
  readonly sources: readonly Source[]
}

const SOURCES = { title: 'Source', path: '/sources/$id', idOf: ({ sourceId }: Connection) => sourceId } as const

function Table({ rows, sources }: TableProps) {
  const ends = useMemo(() => ({ ...SOURCES, byId: new Map(sources.map((each) => [each.id, each])) }), [sources])
  return <ConnectionTable rows={rows} ends={ends} />
}
