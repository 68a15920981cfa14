import type { ReactNode } from 'react'
import styles from './side-panel.module.css'
import { useIsNarrow } from './use-is-narrow.ts'

interface BesidePanelProps {
  /** A `SidePanel`, loaded when it is opened. Null: no panel is open. */
  readonly panel: ReactNode
  readonly children: ReactNode
}

/** A list, and at its right the details of one row; below 900 px the panel covers the list. */
export function BesidePanel({ panel, children }: BesidePanelProps) {
  const isCovered = useIsNarrow() && panel !== null
  return (
    <div className={styles.beside} data-open={panel !== null || undefined}>
      <div className={styles.list} inert={isCovered}>
        {children}
      </div>
      {panel}
    </div>
  )
}
