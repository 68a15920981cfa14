import type { AccessToken } from '@millrace/api-types'
import { useRevokeAccessToken } from '../../api/access-tokens.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'

interface RevokeDialogProps {
  readonly token: AccessToken
  readonly isOwnSession: boolean
  readonly onClose: () => void
}

export function RevokeDialog({ token: { id, name }, isOwnSession, onClose }: RevokeDialogProps) {
  const { mutateAsync } = useRevokeAccessToken()
  return (
    <ConfirmDialog title={`Revoke ${name}`} action="Revoke" onConfirm={() => mutateAsync({ id })} onClose={onClose}>
      <p>
        {isOwnSession
          ? 'This session uses the token: you will be signed out everywhere.'
          : 'Requests with this token are refused from now on.'}
      </p>
    </ConfirmDialog>
  )
}
