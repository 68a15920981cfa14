import { Button } from '@mantine/core'
import type { User } from '@millrace/api-types'
import { type FormEvent, useState } from 'react'
import { useChangeUser, useUserTag } from '../../../api/users.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import styles from '../settings.module.css'
import { RoleSelect } from './new-user-dialog.tsx'

interface ChangeRoleDialogProps {
  readonly user: User
  readonly onClose: () => void
}

export function ChangeRoleDialog({ user, onClose }: ChangeRoleDialogProps) {
  const [role, setRole] = useState(user.role)
  const tag = useUserTag(user.id)
  const { mutateAsync, error, isPending } = useChangeUser()
  const save = async (event: FormEvent) => {
    event.preventDefault()
    const saved = await mutateAsync({ id: user.id, etag: tag.data ?? null, role }).catch(() => undefined)
    if (saved !== undefined) onClose()
  }
  return (
    <Dialog title={`Role of ${user.email}`} isWriting={isPending} onClose={onClose}>
      <form className={styles.form} onSubmit={(event) => void save(event)}>
        <Refusal error={error} />
        <RoleSelect value={role} onChange={setRole} error={undefined} />
        <p className={styles.dim}>
          It takes effect with the next request. A token never has more rights than its user.
        </p>
        <Button type="submit" loading={isPending} disabled={tag.data === undefined || role === user.role}>
          Save
        </Button>
      </form>
    </Dialog>
  )
}
