import { type AccessToken, useRevokeAccessToken } from '../../api/access-tokens.ts'
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
          ? 'You are signed in with it: you will be signed out everywhere.'
          : 'Whatever uses it is refused from the next request on.'}
      </p>
    </ConfirmDialog>
  )
}
