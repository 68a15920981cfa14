import type { Connection } from '@millrace/api-types'
import { useMemo } from 'react'
import { useConnections } from '../../../api/connections.ts'
import { useTypeName } from '../../../api/destination-definitions.ts'
import { useDestinations } from '../../../api/destinations.ts'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { sourceTexts } from '../../../texts.ts'
import type { SourceTabProps } from '../source-tab-props.ts'
import { ConnectEnd } from './connect-end.tsx'
import { ConnectionTable } from './connection-table.tsx'

const DESTINATIONS = {
  title: 'Destination',
  path: '/destinations/$id',
  idOf: ({ destinationId }: Connection) => destinationId,
} as const

/** Where the events of a source go. */
export function SourceConnections({ source }: SourceTabProps) {
  const connections = useConnections()
  const destinations = useDestinations()
  const typeName = useTypeName()
  const ends = useMemo(() => {
    const named = destinations.data?.map((each) => [each.id, { ...each, type: typeName(each.type) }] as const)
    return { ...DESTINATIONS, byId: new Map(named) }
  }, [destinations.data, typeName])
  return (
    <Shown of={connections}>
      {(all) => {
        const rows = all.filter(({ sourceId }) => sourceId === source.id)
        const taken = new Set(rows.map(({ destinationId }) => destinationId))
        const free = (destinations.data ?? []).filter(({ id }) => !taken.has(id))
        return (
          <>
            <ConnectEnd
              end="Destination"
              connectionTo={(destinationId) => ({ sourceId: source.id, destinationId })}
              free={free}
              connections={all.length}
            />
            {rows.length === 0 ? (
              <Empty text={sourceTexts.noConnections} />
            ) : (
              <ConnectionTable rows={rows} ends={ends} />
            )}
          </>
        )
      }}
    </Shown>
  )
}
