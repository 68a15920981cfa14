import { TextInput } from '@mantine/core'

interface SearchFieldProps {
  /** What is sought: `Name, key or id`. */
  readonly label: string
  readonly className: string | undefined
  readonly value: string | undefined
  /** Undefined: everything is shown. */
  readonly onChange: (value: string | undefined) => void
}

/** Narrows a list that is loaded as a whole, with each letter; `/` goes to it. */
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
