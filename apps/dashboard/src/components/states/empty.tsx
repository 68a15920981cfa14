import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { pageTexts } from '../../texts.ts'
import styles from './states.module.css'

interface EmptyProps {
  readonly text: string
  /** What to do about it. */
  readonly children?: ReactNode
}

/** There is nothing yet. */
export function Empty({ text, children }: EmptyProps) {
  return (
    <div className={styles.alone}>
      <p>{text}</p>
      {children}
    </div>
  )
}

/** There is something, but the filters leave none of it. */
export function EmptyByFilter({ onClear }: { readonly onClear: () => void }) {
  return (
    <Empty text={pageTexts.emptyByFilter}>
      <Button variant="default" onClick={onClear}>
        {pageTexts.clearFilters}
      </Button>
    </Empty>
  )
}
