import { Button } from '@mantine/core'
import type { Role } from '@millrace/api-types'
import { ApiError } from '../../api/requests/failure.ts'
import { nextTryMs } from '../../api/requests/retry.ts'
import { useSession } from '../../api/session/session.ts'
import { pageTexts } from '../../texts.ts'
import type { ReadState } from './read-state.ts'
import styles from './states.module.css'
import { useClock } from './use-clock.ts'

interface FailedProps {
  readonly of: Pick<ReadState<unknown>, 'errorUpdatedAt' | 'refetch'>
  readonly error: Error
  readonly thing?: string | undefined
  readonly id?: string | undefined
  readonly role?: Role | undefined
}

/** Replaces data that could not be read. */
export function Failed({ of, error, thing = 'Page', id = '', role = 'admin' }: FailedProps) {
  const kind = error instanceof ApiError ? error.kind : 'fault'
  return (
    <div className={styles.alone} role={kind === 'session' ? undefined : 'alert'}>
      <p>
        {kind === 'missing' ? (
          pageTexts.gone(thing, id)
        ) : kind === 'role' ? (
          <NeedsRoleText role={role} />
        ) : (
          <FailureText of={of} error={error} />
        )}
      </p>
      {(kind === 'server' || kind === 'fault' || kind === 'refused') && (
        <Button variant="default" onClick={() => of.refetch()}>
          {pageTexts.retry}
        </Button>
      )}
    </div>
  )
}

/** Why reading failed, and when it is retried. */
export function FailureText({
  of,
  error,
}: {
  readonly of: Pick<FailedProps['of'], 'errorUpdatedAt'>
  readonly error: Error
}) {
  const tryMs = nextTryMs(error)
  const now = useClock(tryMs !== null)
  if (!(error instanceof ApiError)) return pageTexts.panelFailed
  const seconds = tryMs === null ? 0 : Math.max(0, Math.ceil((of.errorUpdatedAt + tryMs - now) / 1000))
  switch (error.kind) {
    case 'connection':
      return pageTexts.noConnection(seconds)
    case 'rate':
      return pageTexts.tooManyRequests(seconds)
    case 'server':
      return pageTexts.serverFailed(error.status, error.requestId)
    case 'session':
      // The sign-in dialog over the page shows it.
      return null
    default:
      return error.message
  }
}

function NeedsRoleText({ role }: { readonly role: Role }) {
  const { data: session } = useSession()
  if (session === undefined) return pageTexts.needsRole(role)
  return pageTexts.needsRolePage(role, session.user.email, session.token.role)
}
