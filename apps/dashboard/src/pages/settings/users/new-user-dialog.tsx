import { Button, Select, TextInput } from '@mantine/core'
import type { Role } from '@millrace/api-types'
import { type FormEvent, useState } from 'react'
import { ROLES } from '../../../api/session/role.ts'
import { useCreateUser } from '../../../api/users.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { fieldRefusal, Refusal } from '../../../components/form/refusal.tsx'
import { ShownOnceDialog } from '../../../components/shown-once-dialog.tsx'
import { useCloseUnlessWriting } from '../../../components/use-close-unless-writing.ts'
import styles from '../settings.module.css'

const FIELDS = ['email', 'role']

/** Creates a user; the first token is shown only once. */
export function NewUserDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const { mutate, data: made, error, isPending } = useCreateUser()
  const close = useCloseUnlessWriting(onClose)
  const refused = fieldRefusal(error, FIELDS)
  const create = (event: FormEvent) => {
    event.preventDefault()
    mutate({ email, role })
  }
  if (made !== undefined) {
    return (
      <ShownOnceDialog
        title={`The first token of ${made.body.user.email}`}
        what="token"
        secret={made.body.token}
        onClose={onClose}
      >
        It is shown only once. Send it over a private channel: it gives access to this dashboard and the API.
      </ShownOnceDialog>
    )
  }
  return (
    <Dialog title="New user" isWriting={isPending} onClose={close}>
      <form className={styles.form} onSubmit={create}>
        <Refusal error={error} fields={FIELDS} />
        <TextInput
          label="E-mail"
          type="email"
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          error={refused?.field === 'email' ? refused.text : undefined}
          autoComplete="off"
          required
          data-autofocus
        />
        <RoleSelect value={role} onChange={setRole} error={refused?.field === 'role' ? refused.text : undefined} />
        <Button type="submit" loading={isPending}>
          Create user
        </Button>
      </form>
    </Dialog>
  )
}

interface RoleSelectProps {
  readonly value: Role
  readonly onChange: (role: Role) => void
  readonly error: string | undefined
}

const MAY: Readonly<Record<Role, string>> = {
  viewer: 'Reads everything except users and the audit log.',
  editor: 'Also changes sources, destinations and code, and replays events.',
  admin: 'Also manages users, the audit log, backups and permanent deletion.',
}

export function RoleSelect({ value, onChange, error }: RoleSelectProps) {
  return (
    <Select
      label="Role"
      description={MAY[value]}
      data={[...ROLES]}
      value={value}
      onChange={(chosen) => chosen !== null && onChange(chosen as Role)}
      error={error}
      allowDeselect={false}
    />
  )
}
