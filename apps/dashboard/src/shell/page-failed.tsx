import { Button } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { pageTexts } from '../texts.ts'
import styles from './shell.module.css'

/** A fault of our own in a page. The console of the browser has what happened. */
export function PageFailed({ reset }: ErrorComponentProps) {
  return (
    <div className={styles.alone} role="alert">
      <p>{pageTexts.panelFailed}</p>
      <Button variant="default" onClick={reset}>
        {pageTexts.retry}
      </Button>
    </div>
  )
}
