import type { ReactNode } from 'react'
import { Mark } from '../shell/mark.tsx'
import styles from './open-page.module.css'

/** A page without the shell, which needs no session: its title beside the mark, and little below it. */
export function OpenPage({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <div className={styles.brand}>
          <Mark size={32} />
          <h1>{title}</h1>
        </div>
        {children}
      </div>
    </main>
  )
}
