import type { ReactNode } from 'react'
import styles from './states.module.css'

/** A line above what it is about: something that a person should know, with what can be done about it. */
export function Notice({ children }: { readonly children: ReactNode }) {
  return (
    <div className={styles.notice} role="status">
      {children}
    </div>
  )
}
