import { Button } from '@mantine/core'
import type { AccessToken } from '@millrace/api-types'
import { ShownId } from '../../components/shown-id.tsx'
import type { Column } from '../../components/table/table-column.ts'
import { Time } from '../../components/time/time.tsx'

export function tokenColumns(onRevoke: (token: AccessToken) => void): readonly Column<AccessToken>[] {
  return [
    { key: 'name', title: 'Name', width: 'minmax(140px, 2fr)', cell: ({ name }) => name, card: 'title' },
    { key: 'role', title: 'Role', width: '72px', cell: ({ role }) => role },
    {
      key: 'created',
      title: 'Created',
      width: '112px',
      cell: ({ createdAt }) => <Time at={createdAt} isInRow />,
      card: 'none',
    },
    {
      key: 'used',
      title: 'Last used',
      width: '112px',
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} precision="minute" none="never" isInRow />,
      isTitledInCard: true,
    },
    {
      key: 'expires',
      title: 'Expires',
      width: '112px',
      cell: ({ expiresAt }) => <Time at={expiresAt} none="never" isInRow />,
      card: 'none',
    },
    { key: 'id', title: 'Id', width: '252px', cell: ({ id }) => <ShownId id={id} />, card: 'none' },
    {
      key: 'revoke',
      title: 'Action',
      width: '80px',
      isEnd: true,
      cell: (token) => (
        <Button
          size="compact-xs"
          variant="subtle"
          color="bad"
          aria-label={`Revoke ${token.name}`}
          onClick={() => onRevoke(token)}
        >
          Revoke
        </Button>
      ),
      card: 'end',
    },
  ]
}
