import { useId } from 'react'
import styles from './choice.module.css'

interface ChoiceProps<T extends string> {
  /** What is chosen, for a screen reader. */
  readonly label: string
  readonly options: readonly { readonly value: T; readonly text: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
  /** As wide as there is room. */
  readonly isWide?: boolean
}

/**
 * One of a few that stand side by side: the browser's own radio buttons. Mantine's SegmentedControl measures itself as soon as it
 * stands, which has the whole page laid out once more before it is drawn.
 */
export function Choice<T extends string>({ label, options, value, onChange, isWide = false }: ChoiceProps<T>) {
  const name = useId()
  return (
    <div role="radiogroup" aria-label={label} className={styles.choice} data-wide={isWide || undefined}>
      {options.map((option) => (
        <label key={option.value} className={styles.option}>
          <input
            type="radio"
            className={styles.radio}
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span className={styles.text}>{option.text}</span>
        </label>
      ))}
    </div>
  )
}
