import { Button } from '@mantine/core'
import { EVENT_TYPES } from '@millrace/protocol/event'
import { useState } from 'react'
import { OUTCOMES } from '../../api/events.ts'
import {
  ChoiceFilter,
  DestinationFilter,
  type FieldProps,
  FilterBar,
  SourceFilter,
  TextFilter,
} from '../../components/filter-fields.tsx'
import { TimeField } from '../../components/time/time-field.tsx'
import { useIsNarrow } from '../../components/use-is-narrow.ts'
import type { SetSearch } from '../../shell/search-values.ts'
import styles from './events.module.css'
import type { EventsSearch, eventsSearch, FilterName } from './events-search.ts'
import { OUTCOME_MARKS } from './outcome-words.ts'

const FIRST: readonly FilterName[] = ['name', 'user', 'source', 'type', 'outcome', 'destination']
const FIRST_NARROW: readonly FilterName[] = ['name']

interface EventFiltersProps {
  readonly search: EventsSearch
  readonly set: SetSearch<typeof eventsSearch>
  /** But for what the page itself has fixed. */
  readonly names: readonly FilterName[]
}

/** What the list is narrowed by. Those that are rarely wanted are shown when asked for, or when one of them is set. */
export function EventFilters({ search, set, names }: EventFiltersProps) {
  const first = useIsNarrow() ? FIRST_NARROW : FIRST
  const more = names.filter((name) => !first.includes(name))
  const [isOpen, setOpen] = useState(() => more.some((name) => search[name] !== undefined))
  const isUsed = names.some((name) => search[name] !== undefined)
  return (
    <FilterBar>
      {names
        .filter((name) => isOpen || first.includes(name))
        .map((name) => (
          <Filter key={name} name={name} value={search[name]} onChange={(value) => set({ [name]: value })} />
        ))}
      <Button variant="subtle" color="gray" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
      {isUsed && (
        <Button variant="subtle" color="gray" onClick={() => set(cleared(names))}>
          Clear
        </Button>
      )}
    </FilterBar>
  )
}

export function cleared(names: readonly FilterName[]): { readonly [Name in FilterName]?: undefined } {
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

function Filter({ name, ...field }: FieldProps & { readonly name: FilterName }) {
  switch (name) {
    case 'name':
      return <TextFilter label="Name" isFirst {...field} />
    case 'notName':
      return <TextFilter label="Name is not" {...field} />
    case 'user':
      return <TextFilter label="User id" {...field} />
    case 'anon':
      return <TextFilter label="Anonymous id" {...field} />
    case 'source':
      return <SourceFilter {...field} />
    case 'destination':
      return <DestinationFilter {...field} />
    case 'type':
      return <ChoiceFilter label="Type" options={EVENT_TYPES.map((type) => [type, type])} {...field} />
    case 'outcome':
      return (
        <ChoiceFilter
          label="Outcome"
          options={OUTCOMES.map((outcome) => [outcome, OUTCOME_MARKS[outcome].word])}
          {...field}
        />
      )
    case 'from':
      return <TimeField className={styles.time ?? ''} label="From" {...field} />
    case 'to':
      return <TimeField className={styles.time ?? ''} label="To" {...field} />
  }
}
