import type { Connection } from '@millrace/api-types'
import { counted } from '@millrace/wording'
import { connectionTag, useDeleteConnection } from '../../../api/connections.ts'
import { ApiError } from '../../../api/requests/client.ts'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'

interface RemoveDialogProps {
  readonly connection: Connection
  /** Of the other end. */
  readonly name: string
  readonly onClose: () => void
}

export function RemoveDialog({ connection: { id }, name, onClose }: RemoveDialogProps) {
  const { mutateAsync, error } = useDeleteConnection()
  const waiting = error instanceof ApiError ? error.details?.['waiting'] : undefined
  const checks =
    typeof waiting === 'number' ? [{ name: 'discard', label: `Discard ${counted(waiting, 'waiting event')}` }] : []
  return (
    <ConfirmDialog
      title={`Disconnect ${name}`}
      action="Remove"
      checks={checks}
      onConfirm={async () => mutateAsync({ id, etag: await connectionTag(id), discard: checks.length > 0 })}
      onClose={onClose}
    >
      <p>Events of this source are no longer sent to it.</p>
    </ConfirmDialog>
  )
}
