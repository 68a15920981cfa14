import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { pageTexts } from '../../texts.ts'
import styles from './states.module.css'

interface EmptyProps {
  readonly text: string
  /** The next step for the user. */
  readonly children?: ReactNode
}

/** There is no data yet. */
export function Empty({ text, children }: EmptyProps) {
  return (
    <div className={styles.alone}>
      <p>{text}</p>
      {children}
    </div>
  )
}

/** There is data, but no row matches the filters. */
export function EmptyByFilter({ onClear }: { readonly onClear: () => void }) {
  return (
    <Empty text={pageTexts.emptyByFilter}>
      <Button variant="default" onClick={onClear}>
        {pageTexts.clearFilters}
      </Button>
    </Empty>
  )
}
