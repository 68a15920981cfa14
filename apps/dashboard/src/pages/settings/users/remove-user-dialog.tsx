import type { User } from '@millrace/api-types'
import { useDeleteUser, userTag } from '../../../api/users.ts'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'

interface RemoveUserDialogProps {
  readonly user: User
  readonly onClose: () => void
}

export function RemoveUserDialog({ user: { id, email }, onClose }: RemoveUserDialogProps) {
  const { mutateAsync } = useDeleteUser()
  return (
    <ConfirmDialog
      title={`Remove ${email}`}
      action="Remove"
      onConfirm={async () => mutateAsync({ id, etag: await userTag(id) })}
      onClose={onClose}
    >
      <p>All tokens of this user stop working with the next request.</p>
    </ConfirmDialog>
  )
}
