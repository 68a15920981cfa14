import { DEAD_LETTER_STATES, STAGES } from '../../api/dead-letters.ts'
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
import { type DeadLettersSearch, type deadLettersSearch, FILTER_NAMES, type FilterName } from './dead-letters-search.ts'
import { STAGE_WORDS } from './stage-words.ts'

const FIRST = { wide: ['destinationId', 'stage', 'state', 'messageId'], narrow: ['destinationId'] } as const

interface LetterFiltersProps {
  readonly search: DeadLettersSearch
  readonly set: SetSearch<typeof deadLettersSearch>
}

export function LetterFilters({ search, set }: LetterFiltersProps) {
  return (
    <FilterFields
      names={FILTER_NAMES}
      first={FIRST}
      values={search}
      field={(name, value) => (
        <Filter
          key={name}
          name={name}
          value={value}
          // The selection belongs to the previous list.
          onChange={(chosen) => set({ [name]: chosen, group: undefined, sel: undefined })}
        />
      )}
    />
  )
}

/** Removes all filters. */
export const NO_FILTERS: { readonly [Name in FilterName | 'group' | 'sel']?: undefined } = Object.fromEntries(
  [...FILTER_NAMES, 'group', 'sel'].map((name) => [name, undefined]),
)

function Filter({ name, ...field }: FieldProps & { readonly name: FilterName }) {
  switch (name) {
    case 'destinationId':
      return <DestinationFilter {...field} />
    case 'sourceId':
      return <SourceFilter {...field} />
    case 'stage':
      return <ChoiceFilter label="Stage" options={STAGES.map((stage) => [stage, STAGE_WORDS[stage]])} {...field} />
    case 'state':
      return <ChoiceFilter label="State" options={DEAD_LETTER_STATES.map((state) => [state, state])} {...field} />
    case 'reason':
      return <TextFilter label="Reason" {...field} />
    case 'userId':
      return <TextFilter label="User id" {...field} />
    case 'messageId':
      return <TextFilter label="Message id" isFirst {...field} />
    case 'from':
      return <TimeField label="From" {...field} />
    case 'to':
      return <TimeField label="To" {...field} />
  }
}
