import type { ClipboardEvent } from 'react'
import styles from './time.module.css'
import { localTime, type Precision } from './time-text.ts'

interface TimeProps {
  /** RFC 3339. */
  readonly at: string | null | undefined
  readonly precision?: Precision
  /** In tables the row has the focus instead. */
  readonly isInRow?: boolean
  /** Shown if there is no time. */
  readonly none?: string
}

/** A time in the reader's time zone; in UTC on hover and focus, and when copied. */
export function Time({ at, precision = 'second', isInRow = false, none = '–' }: TimeProps) {
  if (at === null || at === undefined) return <span className={styles.none}>{none}</span>
  const date = new Date(at)
  const utc = date.toISOString()
  const copyUtc = (event: ClipboardEvent) => {
    event.clipboardData.setData('text/plain', utc)
    event.preventDefault()
  }
  return (
    <time className={styles.time} dateTime={utc} data-tip={utc} tabIndex={isInRow ? undefined : 0} onCopy={copyUtc}>
      {localTime(date, new Date(), precision)}
    </time>
  )
}
