import { useEventModels } from '../../../api/schemas.ts'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { schemaTexts } from '../../../texts.ts'
import { CatalogLag } from '../../schema/catalog-lag.tsx'
import { ModelList } from '../../schema/model-list.tsx'
import type { SourceTabProps } from '../source-tab-props.ts'

/** The events of one source, each with its schema. */
export function SourceSchema({ source }: SourceTabProps) {
  const reading = useEventModels({ writeKey: source.writeKey })
  return (
    <>
      <CatalogLag />
      <Shown of={reading}>
        {(models) => (models.length === 0 ? <Empty text={schemaTexts.empty} /> : <ModelList models={models} />)}
      </Shown>
    </>
  )
}
