import { Button } from '@mantine/core'
import type { AccessToken, User } from '@millrace/api-types'
import { grouped } from '@millrace/wording'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { ShownId } from '../../../components/shown-id.tsx'
import type { Column } from '../../../components/table/table-column.ts'
import { Time } from '../../../components/time/time.tsx'

interface Actions {
  readonly onRole: (user: User) => void
  readonly onRemove: (user: User) => void
}

/** @param ownId id of the signed-in user. */
export function userColumns(
  tokens: readonly AccessToken[],
  ownId: string,
  { onRole, onRemove }: Actions,
): Column<User>[] {
  const ofUser = Map.groupBy(tokens, ({ userId }) => userId)
  const tokensOf = ({ id }: User) => ofUser.get(id) ?? []
  return [
    {
      key: 'email',
      title: 'E-mail',
      width: 'minmax(180px, 2fr)',
      cell: ({ id, email }) => (id === ownId ? `${email} (you)` : email),
      card: 'title',
    },
    { key: 'role', title: 'Role', width: '72px', cell: ({ role }) => role },
    {
      key: 'tokens',
      title: 'Tokens',
      width: '64px',
      isEnd: true,
      cell: (user) => grouped(tokensOf(user).length),
      card: 'none',
    },
    {
      key: 'used',
      title: 'Last use',
      width: '136px',
      cell: (user) => <Time at={lastUse(tokensOf(user))} precision="minute" none="never" isInRow />,
      isTitledInCard: true,
    },
    {
      key: 'created',
      title: 'Created',
      width: '136px',
      cell: ({ createdAt }) => <Time at={createdAt} isInRow />,
      card: 'none',
    },
    { key: 'id', title: 'Id', width: '264px', cell: ({ id }) => <ShownId id={id} />, card: 'none' },
    {
      key: 'actions',
      title: '',
      width: '172px',
      isEnd: true,
      cell: (user) => (
        <>
          <NeedsRole role="admin">
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={`Role of ${user.email}`}
              onClick={() => onRole(user)}
            >
              Role
            </Button>
          </NeedsRole>
          <NeedsRole role="admin">
            <Button
              size="compact-xs"
              variant="subtle"
              color="bad"
              aria-label={`Remove ${user.email}`}
              onClick={() => onRemove(user)}
            >
              Remove
            </Button>
          </NeedsRole>
        </>
      ),
      card: 'end',
    },
  ]
}

function lastUse(tokens: readonly AccessToken[]): string | null {
  const used = tokens.flatMap(({ lastUsedAt }) => (lastUsedAt === null ? [] : [lastUsedAt]))
  return used.sort().at(-1) ?? null
}
