import { Button, Modal, Select, TextInput } from '@mantine/core'
import type { Role } from '@millrace/api-types'
import { type FormEvent, useState } from 'react'
import { useCreateAccessToken } from '../../api/access-tokens.ts'
import { ROLES } from '../../api/role.ts'
import { fieldRefusal, Refusal } from '../../components/form/refusal.tsx'
import { ShownOnceDialog } from '../../components/shown-once-dialog.tsx'
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
  const [token, setToken] = useState<string>()
  if (token !== undefined) {
    return (
      <ShownOnceDialog title="Your new token" what="token" secret={token} onClose={onClose}>
        It is shown only once. Store it safely.
      </ShownOnceDialog>
    )
  }
  return (
    <Modal opened onClose={onClose} title="New access token" closeButtonProps={{ 'aria-label': 'Close' }}>
      <TokenForm ownRole={ownRole} onMade={setToken} />
    </Modal>
  )
}

function TokenForm({ ownRole, onMade }: { readonly ownRole: Role; readonly onMade: (token: string) => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [days, setDays] = useState('90')
  const { mutateAsync, error, isPending } = useCreateAccessToken()
  const refused = fieldRefusal(error, FIELDS)
  const create = async (event: FormEvent) => {
    event.preventDefault()
    const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
    const made = await mutateAsync({ name, role, expiresAt }).catch(() => undefined)
    if (made !== undefined) onMade(made.body.token)
  }
  return (
    <form className={styles.form} onSubmit={(event) => void create(event)}>
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
