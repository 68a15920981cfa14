import { Button, Switch } from '@mantine/core'
import type { Connection } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import type { useSwitchConnection } from '../../../api/connections.ts'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { OnOffMark } from '../../../components/state-mark.tsx'
import type { Column } from '../../../components/table/table-column.ts'
import { connectionTexts } from '../../../texts.ts'

/** What the connections of a source lead to, or those of a destination come from. */
export interface OtherEnds {
  readonly title: 'Source' | 'Destination'
  readonly path: '/sources/$id' | '/destinations/$id'
  readonly idOf: (connection: Connection) => string
  readonly byId: ReadonlyMap<string, OtherEnd>
}

interface OtherEnd {
  readonly name: string
  /** As people call it. */
  readonly type: string
  readonly enabled: boolean
}

interface Actions {
  readonly switching: Pick<ReturnType<typeof useSwitchConnection>, 'mutate' | 'isPending'>
  readonly onRemove: (connection: Connection) => void
}

export function connectionColumns(
  { title, path, idOf, byId }: OtherEnds,
  { switching: { mutate, isPending }, onRemove }: Actions,
): readonly Column<Connection>[] {
  const endOf = (connection: Connection) => byId.get(idOf(connection))
  const nameOf = (connection: Connection) => endOf(connection)?.name ?? idOf(connection)
  return [
    {
      key: 'name',
      title,
      width: 'minmax(160px, 2fr)',
      cell: (connection) => (
        <Link to={path} params={{ id: idOf(connection) } as never}>
          {nameOf(connection)}
        </Link>
      ),
      card: 'title',
    },
    { key: 'type', title: 'Type', width: 'minmax(96px, 1fr)', cell: (connection) => endOf(connection)?.type },
    {
      key: 'state',
      title: `${title} is`,
      width: '112px',
      cell: (connection) => {
        const end = endOf(connection)
        return end === undefined ? null : <OnOffMark isOn={end.enabled} />
      },
    },
    {
      key: 'rules',
      title: 'Rules',
      width: '96px',
      cell: ({ id, rules }) => (
        <Link to="/connections/$id" params={{ id } as never}>
          {rules === undefined ? connectionTexts.allEvents : connectionTexts.rules(rules.list.length)}
        </Link>
      ),
    },
    {
      key: 'enabled',
      title: 'Connected',
      width: '96px',
      cell: (connection) => (
        <NeedsRole role="editor">
          <Switch
            size="xs"
            aria-label={`Connected to ${nameOf(connection)}`}
            checked={connection.enabled}
            disabled={isPending}
            onChange={({ currentTarget }) => mutate({ id: connection.id, enabled: currentTarget.checked })}
          />
        </NeedsRole>
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
          <Button
            size="compact-xs"
            variant="subtle"
            color="bad"
            aria-label={`Remove the connection to ${nameOf(connection)}`}
            onClick={() => onRemove(connection)}
          >
            Remove
          </Button>
        </NeedsRole>
      ),
    },
  ]
}
