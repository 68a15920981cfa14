import { Button } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { pageTexts } from '../../texts.ts'
import styles from '../shell.module.css'

/** Shown after an error in a page. The browser's console has the details. */
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
