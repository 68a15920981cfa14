import styles from './figures.module.css'

interface ShareBarProps {
  /** From 0 to 1. */
  readonly share: number
  /** Beside the bar: `72 of 240`. */
  readonly text: string
  readonly tone?: 'plain' | 'warn' | 'bad'
}

/** How much of a whole; the text says it too. */
export function ShareBar({ share, text, tone = 'plain' }: ShareBarProps) {
  return (
    <span className={styles.share}>
      <span className={styles.track} aria-hidden="true">
        <span
          className={styles.fill}
          data-tone={tone}
          style={{ display: 'block', width: `${Math.min(Math.max(share, 0), 1) * 100}%` }}
        />
      </span>
      <span>{text}</span>
    </span>
  )
}
