import { TextInput } from '@mantine/core'
import styles from './time-field.module.css'
import { localInput, utcOfInput } from './time-text.ts'

interface TimeFieldProps {
  readonly label: string
  /** RFC 3339 in UTC. */
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

/** A moment that is written in the reader's own zone. */
export function TimeField({ label, value, onChange }: TimeFieldProps) {
  return (
    <TextInput
      className={styles.field}
      type="datetime-local"
      step={1}
      aria-label={label}
      leftSection={<span className={styles.label}>{label}</span>}
      leftSectionWidth={label.length * 8 + 16}
      value={value === undefined ? '' : localInput(new Date(value))}
      onChange={({ currentTarget }) => onChange(utcOfInput(currentTarget.value))}
    />
  )
}
