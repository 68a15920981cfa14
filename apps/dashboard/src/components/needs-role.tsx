import type { Role } from '@millrace/api-types'
import { cloneElement, type ReactElement } from 'react'
import { isAtLeast } from '../api/session/role.ts'
import { useRole } from '../api/session/session.ts'
import { pageTexts } from '../texts.ts'
import styles from './needs-role.module.css'

interface NeedsRoleProps {
  readonly role: Role
  /** A control that takes `disabled`. */
  readonly children: ReactElement<{ disabled?: boolean }>
}

/** Shows controls that the role may not use as disabled, with the reason. @see contracts/dashboard.md §3 [U6] */
export function NeedsRole({ role, children }: NeedsRoleProps) {
  const own = useRole()
  if (own !== undefined && isAtLeast(own, role)) return children
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a disabled control takes no focus, but its reason must be reached
    <span className={styles.reason} data-tip={pageTexts.needsRole(role)} tabIndex={0}>
      {cloneElement(children, { disabled: true })}
    </span>
  )
}

/** Whether the user has at least this role; false until it is loaded. */
export function useMay(role: Role): boolean {
  const own = useRole()
  return own !== undefined && isAtLeast(own, role)
}
