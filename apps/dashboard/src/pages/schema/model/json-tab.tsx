import type { ModelJsonSchema } from '@millrace/api-types'
import { ApiError } from '../../../api/requests/failure.ts'
import { useModelJsonSchemas } from '../../../api/schemas.ts'
import { JsonView } from '../../../components/json/json-view.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import type { ModelTabProps } from './model-tab-props.ts'

const NOTHING = 'Nothing to export: no event of this model has properties or traits.'

/** The schema as JSON Schema, to export. */
export function JsonTab({ model }: ModelTabProps) {
  const reading = useModelJsonSchemas({ writeKey: model.WriteKey })
  if (reading.error instanceof ApiError && reading.error.kind === 'missing') return <Empty text={NOTHING} />
  return (
    <Shown of={reading}>
      {(schemas) => {
        const own = schemas.find((each) => isOf(model, each))
        return own === undefined ? <Empty text={NOTHING} /> : <JsonView value={own.schema} what="JSON Schema" />
      }}
    </Shown>
  )
}

function isOf({ EventType, EventIdentifier }: ModelTabProps['model'], each: ModelJsonSchema): boolean {
  return each.schemaType === EventType && each.schemaIdentifier === EventIdentifier
}
