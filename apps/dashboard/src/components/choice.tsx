import { useId } from 'react'
import styles from './choice.module.css'

interface ChoiceProps<T extends string> {
  /** Label for screen readers. */
  readonly label: string
  readonly options: readonly { readonly value: T; readonly text: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
  /** Uses the full width. */
  readonly isWide?: boolean
}

/**
 * A choice between a few options side by side, made of the browser's radio buttons. Mantine's SegmentedControl measures
 * itself when it mounts, which forces a second layout of the page.
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
