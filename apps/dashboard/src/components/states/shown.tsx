import type { Role } from '@millrace/api-types'
import type { ReactNode } from 'react'
import { ApiError } from '../../api/requests/failure.ts'
import { Failed } from './failed.tsx'
import { Loading } from './loading.tsx'
import { PanelBoundary } from './panel-boundary.tsx'
import type { ReadState } from './read-state.ts'
import { Stale } from './stale.tsx'
import styles from './states.module.css'

interface ShownProps<T> {
  readonly of: ReadState<T>
  /** For a 404: `Source`, and the requested id. */
  readonly thing?: string
  readonly id?: string
  /** For a 403: the role that the page needs. */
  readonly role?: Role
  /** Replaces the grey lines before the first data. */
  readonly skeleton?: ReactNode
  readonly children: (data: T) => ReactNode
}

/**
 * Shows the state of a query: loading, failed, or data whose refresh failed. It also catches errors of the content.
 *
 * @see contracts/dashboard.md §2, the second table
 */
export function Shown<T>({ of, thing, id, role, skeleton, children }: ShownProps<T>) {
  const { data, error } = of
  if (data === undefined) {
    if (error === null) return <Loading skeleton={skeleton} />
    return <Failed of={of} error={error} thing={thing} id={id} role={role} />
  }
  // Data that was removed, or that the user may no longer see, disappears.
  if (error instanceof ApiError && (error.kind === 'missing' || error.kind === 'role')) {
    return <Failed of={of} error={error} thing={thing} id={id} role={role} />
  }
  return (
    <>
      <Stale of={of} />
      <div className={styles.content} data-stale={error !== null || undefined}>
        <PanelBoundary>{<Children data={data} show={children} />}</PanelBoundary>
      </div>
    </>
  )
}

/** A separate component, so the boundary above catches its errors. */
function Children<T>({ data, show }: { readonly data: T; readonly show: (data: T) => ReactNode }) {
  return show(data)
}
