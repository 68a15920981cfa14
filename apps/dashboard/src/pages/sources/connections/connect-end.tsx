import { Button, Select } from '@mantine/core'
import { useState } from 'react'
import { useCreateConnection } from '../../../api/connections.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import styles from '../sources.module.css'

interface ConnectEndProps {
  readonly end: 'Source' | 'Destination'
  /** Those that are not connected yet. */
  readonly free: readonly { readonly id: string; readonly name: string }[]
  readonly connectionTo: (id: string) => { readonly sourceId: string; readonly destinationId: string }
  /** Of the whole workspace. */
  readonly connections: number
}

/** Chooses the other end of a new connection. */
export function ConnectEnd({ end, free, connectionTo, connections }: ConnectEndProps) {
  const [id, setId] = useState<string | null>(null)
  const { mutateAsync, error, isPending, reset } = useCreateConnection()
  const connect = async () => {
    if (id === null) return
    // What is refused is shown above.
    const made = await mutateAsync(connectionTo(id)).catch(() => undefined)
    if (made !== undefined) setId(null)
  }
  return (
    <>
      <Refusal error={error} />
      <div className={styles.filters}>
        <NeedsRole role="editor">
          <Select
            className={styles.filter}
            aria-label={end}
            placeholder={end}
            data={free.map((each) => ({ value: each.id, label: each.name }))}
            value={id}
            onChange={(value) => {
              setId(value)
              reset()
            }}
            searchable
            nothingFoundMessage={`No other ${end.toLowerCase()}`}
          />
        </NeedsRole>
        <NeedsRole role="editor">
          <Button disabled={id === null} loading={isPending} onClick={() => void connect()}>
            Connect
          </Button>
        </NeedsRole>
        <ApiPopover path="/v2/connections" rows={connections} />
      </div>
    </>
  )
}
