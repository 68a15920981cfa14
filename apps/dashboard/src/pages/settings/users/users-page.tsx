import { Button } from '@mantine/core'
import type { AccessToken, User } from '@millrace/api-types'
import { useMemo, useState } from 'react'
import { useAccessTokens } from '../../../api/access-tokens.ts'
import { useSession } from '../../../api/session/session.ts'
import { useUsers } from '../../../api/users.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { together } from '../../../components/states/read-state.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import { SettingsHead } from '../settings-head.tsx'
import { ChangeRoleDialog } from './change-role-dialog.tsx'
import { NewUserDialog } from './new-user-dialog.tsx'
import { RemoveUserDialog } from './remove-user-dialog.tsx'
import { userColumns } from './user-columns.tsx'

type Open = { readonly what: 'new' } | { readonly what: 'role' | 'remove'; readonly user: User }

export function UsersPage() {
  const reading = together({ users: useUsers(), tokens: useAccessTokens(), session: useSession() })
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <>
      <SettingsHead
        actions={
          <>
            <ApiPopover path="/v2/users" rows={reading.data?.users.length} />
            <NeedsRole role="admin">
              <Button onClick={() => setOpen({ what: 'new' })}>New user</Button>
            </NeedsRole>
          </>
        }
      />
      <Shown of={reading} role="admin">
        {({ users, tokens, session }) => (
          <UserTable users={users} tokens={tokens} ownId={session.user.id} onOpen={setOpen} />
        )}
      </Shown>
      {open?.what === 'new' && <NewUserDialog onClose={close} />}
      {open?.what === 'role' && <ChangeRoleDialog user={open.user} onClose={close} />}
      {open?.what === 'remove' && <RemoveUserDialog user={open.user} onClose={close} />}
    </>
  )
}

interface UserTableProps {
  readonly users: readonly User[]
  readonly tokens: readonly AccessToken[]
  readonly ownId: string
  readonly onOpen: (open: Open) => void
}

function UserTable({ users, tokens, ownId, onOpen }: UserTableProps) {
  const columns = useMemo(
    () =>
      userColumns(tokens, ownId, {
        onRole: (user) => onOpen({ what: 'role', user }),
        onRemove: (user) => onOpen({ what: 'remove', user }),
      }),
    [tokens, ownId, onOpen],
  )
  return (
    <DataTable label="Users" columns={columns} rows={users} rowId={({ id }) => id} rowName={({ email }) => email} />
  )
}
