import { Button, Select } from '@mantine/core'
import type { Source } from '@millrace/api-types'
import { useState } from 'react'
import { useCreateConnection } from '../../../api/connections.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import styles from '../destinations.module.css'

interface ConnectSourceProps {
  readonly destinationId: string
  /** Those that are not connected yet. */
  readonly free: readonly Source[]
  /** Of all destinations. */
  readonly connections: number
}

export function ConnectSource({ destinationId, free, connections }: ConnectSourceProps) {
  const [sourceId, setSourceId] = useState<string | null>(null)
  const { mutateAsync, error, isPending, reset } = useCreateConnection()
  const connect = async () => {
    if (sourceId === null) return
    // What is refused is shown above.
    const made = await mutateAsync({ sourceId, destinationId }).catch(() => undefined)
    if (made !== undefined) setSourceId(null)
  }
  return (
    <>
      <Refusal error={error} />
      <div className={styles.filters}>
        <NeedsRole role="editor">
          <Select
            className={styles.filter}
            aria-label="Source"
            placeholder="Source"
            data={free.map(({ id, name }) => ({ value: id, label: name }))}
            value={sourceId}
            onChange={(value) => {
              setSourceId(value)
              reset()
            }}
            searchable
            nothingFoundMessage="No other source"
          />
        </NeedsRole>
        <NeedsRole role="editor">
          <Button disabled={sourceId === null} loading={isPending} onClick={() => void connect()}>
            Connect
          </Button>
        </NeedsRole>
        <ApiPopover path="/v2/connections" rows={connections} />
      </div>
    </>
  )
}
