import { Button, Select, TextInput } from '@mantine/core'
import type { Role } from '@millrace/api-types'
import { type FormEvent, useState } from 'react'
import { useCreateAccessToken } from '../../api/access-tokens.ts'
import { ROLES } from '../../api/session/role.ts'
import { Dialog } from '../../components/dialog.tsx'
import { fieldRefusal, Refusal } from '../../components/form/refusal.tsx'
import { ShownOnceDialog } from '../../components/shown-once-dialog.tsx'
import { useCloseUnlessWriting } from '../../components/use-close-unless-writing.ts'
import styles from './account.module.css'

const FIELDS = ['name', 'role', 'expiresAt']
const DAY_MS = 86_400_000
const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'until it is revoked' },
]

interface NewTokenDialogProps {
  /** Role of the author: a token never gets a higher one. */
  readonly role: Role
  readonly onClose: () => void
}

/** Creates a token, and shows it once. */
export function NewTokenDialog({ role: ownRole, onClose }: NewTokenDialogProps) {
  const creation = useCreateAccessToken()
  const { data: made, isPending } = creation
  const close = useCloseUnlessWriting(onClose)
  if (made !== undefined) {
    return (
      <ShownOnceDialog title="Your new token" what="token" secret={made.body.token} onClose={onClose}>
        It is shown only once. Store it safely.
      </ShownOnceDialog>
    )
  }
  return (
    <Dialog title="New access token" isWriting={isPending} onClose={close}>
      <TokenForm ownRole={ownRole} creation={creation} />
    </Dialog>
  )
}

interface TokenFormProps {
  readonly ownRole: Role
  readonly creation: ReturnType<typeof useCreateAccessToken>
}

function TokenForm({ ownRole, creation: { mutate, error, isPending } }: TokenFormProps) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [days, setDays] = useState('90')
  const refused = fieldRefusal(error, FIELDS)
  const create = (event: FormEvent) => {
    event.preventDefault()
    const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
    mutate({ name, role, expiresAt })
  }
  return (
    <form className={styles.form} onSubmit={create}>
      <Refusal error={error} fields={FIELDS} />
      <TextInput
        label="Name"
        description="The purpose of the token."
        placeholder="ci"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={refused?.field === 'name' ? refused.text : undefined}
        required
        maxLength={200}
        data-autofocus
      />
      <Select
        label="Role"
        data={ROLES.slice(0, ROLES.indexOf(ownRole) + 1)}
        value={role}
        onChange={(value) => value !== null && setRole(value as Role)}
        error={refused?.field === 'role' ? refused.text : undefined}
        allowDeselect={false}
      />
      <Select
        label="Works for"
        data={LIFETIMES}
        value={days}
        onChange={(value) => setDays(value ?? '')}
        error={refused?.field === 'expiresAt' ? refused.text : undefined}
        allowDeselect={false}
      />
      <Button type="submit" loading={isPending}>
        Create token
      </Button>
    </form>
  )
}
