import { Button } from '@mantine/core'
import { EVENT_TYPES } from '@millrace/protocol/event'
import { useState } from 'react'
import { OUTCOMES } from '../../api/events.ts'
import {
  ChoiceFilter,
  DestinationFilter,
  FilterBar,
  SourceFilter,
  TextFilter,
} from '../../components/filter-fields.tsx'
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
    <FilterBar>
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
    </FilterBar>
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
      return (
        <ChoiceFilter
          label="Type"
          options={EVENT_TYPES.map((type) => [type, type])}
          value={value}
          onChange={onChange}
        />
      )
    case 'outcome':
      return (
        <ChoiceFilter
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
