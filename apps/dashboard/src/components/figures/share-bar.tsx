import styles from './figures.module.css'

interface ShareBarProps {
  /** From 0 to 1. */
  readonly share: number
  /** Text beside the bar: `72 of 240`. */
  readonly text: string
  readonly tone?: Tone
  /** Several shares of the same whole, side by side, instead of one. */
  readonly parts?: readonly { readonly share: number; readonly tone: Tone }[]
}

type Tone = 'plain' | 'idle' | 'warn' | 'bad'

/** A share of a whole; the text shows it too. */
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
