import { Button, Select, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { useDestinations } from '../api/destinations.ts'
import { useSources } from '../api/sources.ts'
import styles from './filter-fields.module.css'
import { useIsNarrow } from './use-is-narrow.ts'

interface FilterFieldsProps<Name extends string> {
  /** In the order of the fields. */
  readonly names: readonly Name[]
  /** Fields that are always visible, above and below 900 px. */
  readonly first: { readonly wide: readonly Name[]; readonly narrow: readonly Name[] }
  readonly values: { readonly [Each in Name]?: string }
  readonly field: (name: Name, value: string | undefined) => ReactNode
  /** Content after the fields. */
  readonly children?: ReactNode
}

/** The filters of a list. Rarely used fields are hidden until the user opens them, or one of them is set. */
export function FilterFields<Name extends string>({ names, first, values, field, children }: FilterFieldsProps<Name>) {
  const always = useIsNarrow() ? first.narrow : first.wide
  const [isOpen, setOpen] = useState(() => names.some((name) => !always.includes(name) && values[name] !== undefined))
  return (
    <search className={styles.bar} aria-label="Filters">
      {names.filter((name) => isOpen || always.includes(name)).map((name) => field(name, values[name]))}
      <Button variant="subtle" color="gray" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
      {children}
    </search>
  )
}

const TYPING_MS = 300

export interface FieldProps {
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

/** Searches a moment after the last letter: one search may take a second. */
export function TextFilter({
  label,
  isFirst,
  value = '',
  onChange,
}: FieldProps & { label: string; isFirst?: boolean }) {
  const [written, setWritten] = useState(value)
  useEffect(() => setWritten(value), [value])
  useEffect(() => {
    if (written === value) return
    const timer = setTimeout(() => onChange(written || undefined), TYPING_MS)
    return () => clearTimeout(timer)
  })
  return (
    <TextInput
      className={styles.filter}
      aria-label={label}
      placeholder={label}
      type="search"
      data-filter={isFirst}
      value={written}
      onChange={({ currentTarget }) => setWritten(currentTarget.value)}
    />
  )
}

export function SourceFilter(field: FieldProps) {
  const { data = [] } = useSources()
  return <ChoiceFilter label="Source" options={data.map(({ id, name }) => [id, name])} {...field} />
}

export function DestinationFilter(field: FieldProps) {
  const { data = [] } = useDestinations()
  return <ChoiceFilter label="Destination" options={data.map(({ id, name }) => [id, name])} {...field} />
}

interface ChoiceProps extends FieldProps {
  readonly label: string
  readonly options: readonly (readonly [value: string, text: string])[]
}

export function ChoiceFilter({ label, options, value, onChange }: ChoiceProps) {
  // An unknown value from a link is still shown, because it filters the list.
  const known = value === undefined || options.some(([each]) => each === value) ? options : [...options, [value, value]]
  return (
    <Select
      className={styles.filter}
      aria-label={label}
      placeholder={label}
      data={known.map(([value, label]) => ({ value: value!, label: label! }))}
      searchable={options.length > 10}
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
    />
  )
}
