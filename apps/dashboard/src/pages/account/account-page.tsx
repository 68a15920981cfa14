import { Button, Switch } from '@mantine/core'
import type { AccessToken } from '@millrace/api-types'
import { useMemo, useState } from 'react'
import { useAccessTokens } from '../../api/access-tokens.ts'
import { useSession } from '../../api/session/session.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { Empty } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { DataTable } from '../../components/table/data-table.tsx'
import { Time } from '../../components/time/time.tsx'
import { useAreKeysOn } from '../../shell/keys/keys.ts'
import { useSearchValues } from '../../shell/search-values.ts'
import { SettingsHead } from '../settings/settings-head.tsx'
import styles from './account.module.css'
import { accountSearch } from './account-search.ts'
import { NewTokenDialog } from './new-token-dialog.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'
import { tokenColumns } from './token-columns.tsx'

/** The signed-in user, and their tokens. @see contracts/dashboard.md §11, J10 */
export function AccountPage() {
  const session = useSession()
  const tokens = useAccessTokens()
  const [{ new: isNew = false }, set] = useSearchValues(accountSearch)
  const [revoked, setRevoked] = useState<AccessToken>()
  const columns = useMemo(() => tokenColumns(setRevoked), [])
  return (
    <>
      <SettingsHead
        actions={
          <>
            <ApiPopover path="/v2/access-tokens" rows={tokens.data?.length} />
            <Button onClick={() => set({ new: true }, 'push')}>New token</Button>
          </>
        }
      />
      <Shown of={session}>
        {({ user, token, expiresAt }) => (
          <>
            <dl className={styles.facts}>
              <Fact name="E-mail">{user.email}</Fact>
              <Fact name="Role">{user.role}</Fact>
              <Fact name="Signed in with">
                {token.name} ({token.role})
              </Fact>
              <Fact name="Session ends">
                <Time at={expiresAt} />
              </Fact>
            </dl>
            <SingleKeys />
            <h2 className={styles.heading}>Your access tokens</h2>
            <Shown of={tokens}>
              {(all) => {
                // Admins receive the tokens of all users, which the page of users shows.
                const own = all.filter(({ userId }) => userId === user.id)
                if (own.length === 0)
                  return <Empty text="No tokens. A token signs you in here, or a program at the API." />
                return (
                  <DataTable
                    label="Your access tokens"
                    columns={columns}
                    rows={own}
                    rowId={({ id }) => id}
                    rowName={({ name }) => name}
                    currentId={token.id}
                  />
                )
              }}
            </Shown>
            {isNew && <NewTokenDialog role={token.role} onClose={() => set({ new: undefined })} />}
          </>
        )}
      </Shown>
      {revoked !== undefined && (
        <RevokeDialog
          token={revoked}
          isOwnSession={revoked.id === session.data?.token.id}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function SingleKeys() {
  const [areOn, setOn] = useAreKeysOn()
  return (
    <Switch
      label="Single keys"
      description="Shortcuts of one key: g and a letter, /, j, k, c and ?. Saved in this browser."
      checked={areOn}
      onChange={({ currentTarget }) => setOn(currentTarget.checked)}
    />
  )
}
