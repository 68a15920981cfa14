import { Button } from '@mantine/core'
import type { Credential } from '@millrace/api-types'
import { useMemo, useState } from 'react'
import { useCredentials, useDeleteCredential } from '../../../api/credentials.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { DataTable } from '../../../components/table/data-table.tsx'
import { SettingsHead } from '../settings-head.tsx'
import { credentialColumns } from './credential-columns.tsx'
import { CredentialDialog } from './credential-dialog.tsx'

type Open = { readonly what: 'new' } | { readonly what: 'replace' | 'delete'; readonly credential: Credential }

/** Values that user code reads with `getCredential(key)`: shows keys and times, never a value. */
export function CredentialsPage() {
  const credentials = useCredentials()
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const columns = useMemo(
    () =>
      credentialColumns({
        onReplace: (credential) => setOpen({ what: 'replace', credential }),
        onDelete: (credential) => setOpen({ what: 'delete', credential }),
      }),
    [],
  )
  const add = (
    <NeedsRole role="editor">
      <Button onClick={() => setOpen({ what: 'new' })}>New credential</Button>
    </NeedsRole>
  )
  return (
    <>
      <SettingsHead
        actions={
          <>
            <ApiPopover path="/v2/credentials" rows={credentials.data?.length} />
            {add}
          </>
        }
      />
      <Shown of={credentials}>
        {(all) =>
          all.length === 0 ? (
            <Empty text="No credentials yet. User code reads them with getCredential(key).">{add}</Empty>
          ) : (
            <DataTable label="Credentials" columns={columns} rows={all} rowId={({ key }) => key} />
          )
        }
      </Shown>
      {open?.what === 'new' && <CredentialDialog credential={undefined} onClose={close} />}
      {open?.what === 'replace' && <CredentialDialog credential={open.credential} onClose={close} />}
      {open?.what === 'delete' && <DeleteCredential credential={open.credential} onClose={close} />}
    </>
  )
}

interface DeleteCredentialProps {
  readonly credential: Credential
  readonly onClose: () => void
}

function DeleteCredential({ credential: { key }, onClose }: DeleteCredentialProps) {
  const { mutateAsync } = useDeleteCredential()
  return (
    <ConfirmDialog title={`Delete ${key}`} action="Delete" onConfirm={() => mutateAsync({ key })} onClose={onClose}>
      <p>User code gets undefined for it from the next event on.</p>
    </ConfirmDialog>
  )
}
