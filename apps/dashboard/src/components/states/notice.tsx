import type { ReactNode } from 'react'
import styles from './states.module.css'

/** A line above its subject: a fact that the user should know, with the possible actions. */
export function Notice({ children }: { readonly children: ReactNode }) {
  return (
    <div className={styles.notice} role="status">
      {children}
    </div>
  )
}
