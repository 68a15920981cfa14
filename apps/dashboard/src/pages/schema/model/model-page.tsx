import type { EventModelWithExtras, Source } from '@millrace/api-types'
import { counted } from '@millrace/wording'
import { useParams } from '@tanstack/react-router'
import { type ComponentType, Suspense } from 'react'
import { ApiError } from '../../../api/requests/failure.ts'
import { useEventModels, useEventVersions } from '../../../api/schemas.ts'
import { useSources } from '../../../api/sources.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { lazyPart } from '../../../components/lazy-part.ts'
import { ShownId } from '../../../components/shown-id.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { Loading } from '../../../components/states/loading.tsx'
import { titleOf, together } from '../../../components/states/read-state.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { PageHead } from '../../../shell/page/page-head.tsx'
import { useSearchValues } from '../../../shell/search-values.ts'
import { pageTexts, schemaTexts } from '../../../texts.ts'
import { CatalogLag } from '../catalog-lag.tsx'
import { modelName } from '../model-columns.tsx'
import styles from '../schema.module.css'
import { type ModelTab, modelSearch } from '../schema-search.ts'
import type { ModelTabProps } from './model-tab-props.ts'

interface Tab {
  readonly text: string
  readonly Content: ComponentType<ModelTabProps>
}

const TABS: Readonly<Record<ModelTab, Tab>> = {
  keys: {
    text: 'Keys',
    Content: lazyPart(() => import('./keys-tab.tsx').then(({ KeysTab }) => ({ default: KeysTab }))),
  },
  versions: {
    text: 'Versions',
    Content: lazyPart(() => import('./versions-tab.tsx').then(({ VersionsTab }) => ({ default: VersionsTab }))),
  },
  missing: {
    text: 'Missing keys',
    Content: lazyPart(() => import('./missing-tab.tsx').then(({ MissingTab }) => ({ default: MissingTab }))),
  },
  values: {
    text: 'Frequent values',
    Content: lazyPart(() => import('./values-tab.tsx').then(({ ValuesTab }) => ({ default: ValuesTab }))),
  },
  samples: {
    text: 'Samples',
    Content: lazyPart(() => import('./samples-tab.tsx').then(({ SamplesTab }) => ({ default: SamplesTab }))),
  },
  json: {
    text: 'JSON Schema',
    Content: lazyPart(() => import('./json-tab.tsx').then(({ JsonTab }) => ({ default: JsonTab }))),
  },
}

/** One event with its schema. */
export function ModelPage() {
  const { eventId = '' } = useParams({ strict: false }) as { eventId?: string }
  const [{ tab = 'keys' }] = useSearchValues(modelSearch)
  const models = useEventModels()
  const versions = useEventVersions(eventId)
  const sources = useSources()
  const model = models.data?.find(({ EventID }) => EventID === eventId)
  const { Content } = TABS[tab]
  // An unknown model has no versions either; either answer may arrive first.
  const isGone = (models.data !== undefined && model === undefined) || isMissing(versions.error)
  return (
    <>
      <PageHead
        title={isGone ? 'Model' : titleOf({ data: model, error: models.error }, modelName, 'Model')}
        meta={model && <ModelMeta model={model} source={sources.data?.find(isOf(model))} />}
        actions={model && <ApiPopover path="/schemas/event-versions" query={{ EventID: eventId }} />}
        tabs={Object.entries(TABS).map(([name, { text }]) => ({
          text,
          to: `/schema/${eventId}`,
          search: { tab: name },
          isCurrent: name === tab,
        }))}
      />
      <CatalogLag />
      {isGone ? (
        <Empty text={pageTexts.gone('Model', eventId)} />
      ) : (
        <Shown of={together({ models, versions, sources })}>
          {({ models, versions, sources }) => {
            const model = models.find(({ EventID }) => EventID === eventId)!
            return (
              <>
                {model.CutKeys > 0 && <p className={styles.notice}>{schemaTexts.cut(model.CutKeys)}</p>}
                <Suspense key={tab} fallback={<Loading />}>
                  <Content key={eventId} model={model} versions={versions} source={sources.find(isOf(model))} />
                </Suspense>
              </>
            )
          }}
        </Shown>
      )}
    </>
  )
}

function ModelMeta({ model, source }: Pick<ModelTabProps, 'model' | 'source'>) {
  return (
    <>
      <span>{model.EventType}</span>
      <span>{source?.name ?? 'Deleted source'}</span>
      <span>{counted(model.TotalCount, 'event')}</span>
      <ShownId id={model.EventID} />
    </>
  )
}

function isOf({ WriteKey }: EventModelWithExtras) {
  return ({ writeKey }: Source) => writeKey === WriteKey
}

function isMissing(error: Error | null): boolean {
  return error instanceof ApiError && error.kind === 'missing'
}
