import { TextInput } from '@mantine/core'

interface TimeFieldProps {
  readonly label: string
  /** RFC 3339 in UTC. */
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
  readonly className?: string
  readonly error?: string | undefined
}

/** An input for a time, in the reader's time zone. */
export function TimeField({ label, value, onChange, className = '', error }: TimeFieldProps) {
  return (
    <TextInput
      className={className}
      type="datetime-local"
      label={label}
      value={value === undefined ? '' : localValue(new Date(value))}
      onChange={({ currentTarget }) => {
        const at = new Date(currentTarget.value)
        onChange(Number.isNaN(at.getTime()) ? undefined : at.toISOString())
      }}
      error={error}
    />
  )
}

/** `2026-11-21T23:05`, the format of the control. */
function localValue(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
