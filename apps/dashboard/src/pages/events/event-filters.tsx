import { Button } from '@mantine/core'
import { EVENT_TYPES } from '@millrace/protocol/event'
import { OUTCOMES } from '../../api/events.ts'
import {
  ChoiceFilter,
  DestinationFilter,
  type FieldProps,
  FilterFields,
  SourceFilter,
  TextFilter,
} from '../../components/filter-fields.tsx'
import { TimeField } from '../../components/time/time-field.tsx'
import type { SetSearch } from '../../shell/search-values.ts'
import styles from './events.module.css'
import type { EventsSearch, eventsSearch, FilterName } from './events-search.ts'
import { OUTCOME_MARKS } from './outcome-words.ts'

const FIRST = { wide: ['name', 'user', 'source', 'type', 'outcome', 'destination'], narrow: ['name'] } as const

interface EventFiltersProps {
  readonly search: EventsSearch
  readonly set: SetSearch<typeof eventsSearch>
  /** Excludes the filters that the page fixes. */
  readonly names: readonly FilterName[]
}

/** The filters of the list. */
export function EventFilters({ search, set, names }: EventFiltersProps) {
  return (
    <FilterFields
      names={names}
      first={FIRST}
      values={search}
      field={(name, value) => (
        <Filter key={name} name={name} value={value} onChange={(chosen) => set({ [name]: chosen })} />
      )}
    >
      {names.some((name) => search[name] !== undefined) && (
        <Button variant="subtle" color="gray" onClick={() => set(cleared(names))}>
          Clear
        </Button>
      )}
    </FilterFields>
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
