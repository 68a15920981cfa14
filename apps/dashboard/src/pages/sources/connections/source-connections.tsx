import { Button, Select } from '@mantine/core'
import type { Connection } from '@millrace/api-types'
import { useMemo, useState } from 'react'
import { useConnections, useCreateConnection } from '../../../api/connections.ts'
import { useTypeName } from '../../../api/destination-definitions.ts'
import { useDestinations } from '../../../api/destinations.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { sourceTexts } from '../../../texts.ts'
import type { SourceTabProps } from '../source-tab-props.ts'
import styles from '../sources.module.css'
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
            <Connect sourceId={source.id} free={free} connections={all.length} />
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

interface ConnectProps {
  readonly sourceId: string
  readonly free: readonly { readonly id: string; readonly name: string }[]
  /** Of all sources. */
  readonly connections: number
}

function Connect({ sourceId, free, connections }: ConnectProps) {
  const [destinationId, setDestinationId] = useState<string | null>(null)
  const { mutateAsync, error, isPending, reset } = useCreateConnection()
  const connect = async () => {
    if (destinationId === null) return
    const made = await mutateAsync({ sourceId, destinationId }).catch(() => undefined)
    if (made !== undefined) setDestinationId(null)
  }
  return (
    <>
      <Refusal error={error} />
      <div className={styles.filters}>
        <NeedsRole role="editor">
          <Select
            className={styles.filter}
            aria-label="Destination"
            placeholder="Destination"
            data={free.map(({ id, name }) => ({ value: id, label: name }))}
            value={destinationId}
            onChange={(value) => {
              setDestinationId(value)
              reset()
            }}
            searchable
            nothingFoundMessage="No other destination"
          />
        </NeedsRole>
        <NeedsRole role="editor">
          <Button disabled={destinationId === null} loading={isPending} onClick={() => void connect()}>
            Connect
          </Button>
        </NeedsRole>
        <ApiPopover path="/v2/connections" rows={connections} />
      </div>
    </>
  )
}
