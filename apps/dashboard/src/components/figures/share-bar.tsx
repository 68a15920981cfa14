import styles from './figures.module.css'

interface ShareBarProps {
  /** From 0 to 1. */
  readonly share: number
  /** Beside the bar: `72 of 240`. */
  readonly text: string
  readonly tone?: Tone
  /** In place of one share: several, side by side, each of the same whole. */
  readonly parts?: readonly { readonly share: number; readonly tone: Tone }[]
}

type Tone = 'plain' | 'idle' | 'warn' | 'bad'

/** How much of a whole; the text says it too. */
export function ShareBar({ share, text, tone = 'plain', parts = [{ share, tone }] }: ShareBarProps) {
  return (
    <span className={styles.share}>
      <span className={styles.track} aria-hidden="true">
        {parts.map((part) => (
          <span
            key={part.tone}
            className={styles.fill}
            data-tone={part.tone}
            style={{ width: `${Math.min(Math.max(part.share, 0), 1) * 100}%` }}
          />
        ))}
      </span>
      <span>{text}</span>
    </span>
  )
}
