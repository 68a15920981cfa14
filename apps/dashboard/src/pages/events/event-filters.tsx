import { Button, Select, TextInput } from '@mantine/core'
import { EVENT_TYPES } from '@millrace/protocol/event'
import { useEffect, useState } from 'react'
import { useDestinations } from '../../api/destinations.ts'
import { OUTCOMES } from '../../api/events.ts'
import { useSources } from '../../api/sources.ts'
import { TimeField } from '../../components/time/time-field.tsx'
import { useIsNarrow } from '../../components/use-is-narrow.ts'
import type { SetSearch } from '../../shell/search-values.ts'
import styles from './events.module.css'
import { type EventsSearch, type eventsSearch, FILTER_NAMES } from './events-search.ts'
import { OUTCOME_MARKS } from './outcome-words.ts'

type FilterName = (typeof FILTER_NAMES)[number]

const FIRST: readonly FilterName[] = ['name', 'user', 'source', 'type', 'outcome', 'destination']
const FIRST_NARROW: readonly FilterName[] = ['name']

interface EventFiltersProps {
  readonly search: EventsSearch
  readonly set: SetSearch<typeof eventsSearch>
  /** What the page itself has fixed. */
  readonly hidden?: readonly FilterName[]
}

/** What the list is narrowed by. Those that are rarely wanted are shown when asked for, or when one of them is set. */
export function EventFilters({ search, set, hidden = [] }: EventFiltersProps) {
  const first = useIsNarrow() ? FIRST_NARROW : FIRST
  const names = FILTER_NAMES.filter((name) => !hidden.includes(name))
  const more = names.filter((name) => !first.includes(name))
  const [isOpen, setOpen] = useState(() => more.some((name) => search[name] !== undefined))
  const set1 = (name: FilterName, value: string | undefined) => set({ [name]: value })
  const used = names.filter((name) => search[name] !== undefined).length
  return (
    <search className={styles.filters} aria-label="Filters">
      {names
        .filter((name) => isOpen || first.includes(name))
        .map((name) => (
          <Filter key={name} name={name} value={search[name]} onChange={(value) => set1(name, value)} />
        ))}
      <Button variant="subtle" color="gray" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
      {used > 0 && (
        <Button variant="subtle" color="gray" onClick={() => set(cleared(names))}>
          Clear
        </Button>
      )}
    </search>
  )
}

export function cleared(names: readonly FilterName[] = FILTER_NAMES): { readonly [Name in FilterName]?: undefined } {
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

interface FilterProps {
  readonly name: FilterName
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

function Filter({ name, value, onChange }: FilterProps) {
  switch (name) {
    case 'name':
      return <TextFilter label="Name" isFirst value={value} onChange={onChange} />
    case 'notName':
      return <TextFilter label="Name is not" value={value} onChange={onChange} />
    case 'user':
      return <TextFilter label="User id" value={value} onChange={onChange} />
    case 'anon':
      return <TextFilter label="Anonymous id" value={value} onChange={onChange} />
    case 'source':
      return <SourceFilter value={value} onChange={onChange} />
    case 'destination':
      return <DestinationFilter value={value} onChange={onChange} />
    case 'type':
      return <Choice label="Type" options={EVENT_TYPES.map((type) => [type, type])} value={value} onChange={onChange} />
    case 'outcome':
      return (
        <Choice
          label="Outcome"
          options={OUTCOMES.map((outcome) => [outcome, OUTCOME_MARKS[outcome].word])}
          value={value}
          onChange={onChange}
        />
      )
    case 'from':
      return <TimeField className={styles.time ?? ''} label="From" value={value} onChange={onChange} />
    case 'to':
      return <TimeField className={styles.time ?? ''} label="To" value={value} onChange={onChange} />
  }
}

const TYPING_MS = 300

interface FieldProps {
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

/** Asked for a moment after the last letter: one search may take a second. */
function TextFilter({ label, isFirst, value = '', onChange }: FieldProps & { label: string; isFirst?: boolean }) {
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

function SourceFilter(field: FieldProps) {
  const { data = [] } = useSources()
  return <Choice label="Source" options={data.map(({ id, name }) => [id, name])} {...field} />
}

function DestinationFilter(field: FieldProps) {
  const { data = [] } = useDestinations()
  return <Choice label="Destination" options={data.map(({ id, name }) => [id, name])} {...field} />
}

interface ChoiceProps extends FieldProps {
  readonly label: string
  readonly options: readonly (readonly [value: string, text: string])[]
}

function Choice({ label, options, value, onChange }: ChoiceProps) {
  // What a link names and nobody knows is still shown: it does narrow the list.
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
