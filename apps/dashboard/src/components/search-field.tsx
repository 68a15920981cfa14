import { TextInput } from '@mantine/core'

interface SearchFieldProps {
  /** Label and placeholder, such as `Name, key or id`. */
  readonly label: string
  readonly className: string | undefined
  readonly value: string | undefined
  /** Undefined: all rows are shown. */
  readonly onChange: (value: string | undefined) => void
}

/** The search field of a completely loaded list: tells each keystroke. `/` moves the focus to it. */
export function SearchField({ label, className = '', value = '', onChange }: SearchFieldProps) {
  return (
    <TextInput
      className={className}
      aria-label={label}
      placeholder={label}
      type="search"
      data-filter
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
    />
  )
}
