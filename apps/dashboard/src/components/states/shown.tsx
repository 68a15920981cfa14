import type { Role } from '@millrace/api-types'
import type { ReactNode } from 'react'
import { ApiError } from '../../api/failure.ts'
import { Failed } from './failed.tsx'
import { Loading } from './loading.tsx'
import { PanelBoundary } from './panel-boundary.tsx'
import type { ReadState } from './read-state.ts'
import { Stale } from './stale.tsx'
import styles from './states.module.css'

interface ShownProps<T> {
  readonly of: ReadState<T>
  /** For a 404: `Source`, and the id that was asked for. */
  readonly thing?: string
  readonly id?: string
  /** For a 403: what the page needs. */
  readonly role?: Role
  /** In place of the usual grey lines while nothing is there yet. */
  readonly skeleton?: ReactNode
  readonly children: (data: T) => ReactNode
}

/**
 * What was read, in whatever state reading is: loading, failed, or failed since it was last read. A fault of our own in what
 * it shows ends here too.
 *
 * @see contracts/dashboard.md §2, the second table
 */
export function Shown<T>({ of, thing, id, role, skeleton, children }: ShownProps<T>) {
  const { data, error } = of
  if (data === undefined) {
    if (error === null) return <Loading skeleton={skeleton} />
    return <Failed of={of} error={error} thing={thing} id={id} role={role} />
  }
  // What is gone, or no longer ours to see, is not shown on.
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

/** A component of its own, so that what it throws is caught by the boundary above. */
function Children<T>({ data, show }: { readonly data: T; readonly show: (data: T) => ReactNode }) {
  return show(data)
}
