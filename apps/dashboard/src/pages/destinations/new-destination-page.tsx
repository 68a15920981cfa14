import { useDestinationDefinitions } from '../../api/destination-definitions.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { useSearchValues } from '../../shell/search-values.ts'
import { newDestinationSearch } from './destinations-search.ts'
import { NewDestinationForm } from './form/new-destination-form.tsx'
import { TypeChoice } from './form/type-choice.tsx'

/** First its type, then the form that belongs to it. */
export function NewDestinationPage() {
  const [{ type }] = useSearchValues(newDestinationSearch)
  const reading = useDestinationDefinitions()
  const definition = reading.data?.find(({ name }) => name === type)
  return (
    <>
      <PageHead
        title="New destination"
        meta={definition && <span>{definition.displayName}</span>}
        actions={
          definition === undefined && <ApiPopover path="/destination-definitions" query={{ include: 'schema' }} />
        }
      />
      <Shown of={reading}>
        {(definitions) => {
          const chosen = definitions.find(({ name }) => name === type)
          if (chosen === undefined) return <TypeChoice definitions={definitions} />
          return <NewDestinationForm key={chosen.name} definition={chosen} />
        }}
      </Shown>
    </>
  )
}
