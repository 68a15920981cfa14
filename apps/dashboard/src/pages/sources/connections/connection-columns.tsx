import { Button, Switch } from '@mantine/core'
import { Link, useRouter } from '@tanstack/react-router'
import { type Connection, connectionTag, useChangeConnection } from '../../../api/connections.ts'
import type { Destination } from '../../../api/destinations.ts'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { StateMark } from '../../../components/state-mark.tsx'
import type { Column } from '../../../components/table/table-column.ts'

export function connectionColumns(
  named: ReadonlyMap<string, Destination>,
  onRemove: (connection: Connection) => void,
): readonly Column<Connection>[] {
  return [
    {
      key: 'name',
      title: 'Destination',
      width: 'minmax(160px, 2fr)',
      cell: ({ destinationId }) => <Name id={destinationId} name={named.get(destinationId)?.name} />,
      card: 'title',
    },
    {
      key: 'type',
      title: 'Type',
      width: 'minmax(96px, 1fr)',
      cell: ({ destinationId }) => named.get(destinationId)?.type,
    },
    {
      key: 'state',
      title: 'Destination is',
      width: '112px',
      cell: ({ destinationId }) => {
        const isOn = named.get(destinationId)?.enabled
        return isOn === undefined ? null : <StateMark kind={isOn ? 'ok' : 'off'}>{isOn ? 'on' : 'off'}</StateMark>
      },
    },
    {
      key: 'enabled',
      title: 'Connected',
      width: '96px',
      cell: (connection) => (
        <ConnectedSwitch connection={connection} name={named.get(connection.destinationId)?.name ?? ''} />
      ),
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
}

function Name({ id, name }: { readonly id: string; readonly name: string | undefined }) {
  const { routesByPath } = useRouter()
  if (!('/destinations/$id' in routesByPath)) return name ?? id
  return (
    <Link to="/destinations/$id" params={{ id } as never}>
      {name ?? id}
    </Link>
  )
}

interface ConnectedSwitchProps {
  readonly connection: Connection
  /** Of the other end. */
  readonly name: string
}

export function ConnectedSwitch({ connection: { id, enabled }, name }: ConnectedSwitchProps) {
  const { mutate, isPending } = useChangeConnection()
  const change = async (isOn: boolean) => mutate({ id, etag: await connectionTag(id), enabled: isOn })
  return (
    <NeedsRole role="editor">
      <Switch
        size="xs"
        aria-label={`Connected to ${name}`}
        checked={enabled}
        disabled={isPending}
        onChange={({ currentTarget }) => void change(currentTarget.checked)}
      />
    </NeedsRole>
  )
}
