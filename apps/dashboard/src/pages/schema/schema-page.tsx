import { Select } from '@mantine/core'
import type { EventModelWithExtras, Source } from '@millrace/api-types'
import { EVENT_TYPES, type EventType } from '@millrace/protocol/event'
import { useMemo } from 'react'
import { useEventModels } from '../../api/schemas.ts'
import { useSources } from '../../api/sources.ts'
import { ApiPopover } from '../../components/api-popover.tsx'
import { isPartOf } from '../../components/part-of.ts'
import { SearchField } from '../../components/search-field.tsx'
import { Empty, EmptyByFilter } from '../../components/states/empty.tsx'
import { together } from '../../components/states/read-state.ts'
import { Shown } from '../../components/states/shown.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { type SearchValues, useSearchValues } from '../../shell/search-values.ts'
import { schemaTexts } from '../../texts.ts'
import { CatalogLag } from './catalog-lag.tsx'
import { ModelList } from './model-list.tsx'
import styles from './schema.module.css'
import { schemaSearch } from './schema-search.ts'

export function SchemaPage() {
  const [{ source }] = useSearchValues(schemaSearch)
  const sources = useSources()
  const WriteKey = sources.data?.find(({ id }) => id === source)?.writeKey
  return (
    <>
      <PageHead
        title="Schema"
        actions={<ApiPopover path="/schemas/event-models" query={{ WriteKey, extras: true }} />}
      />
      <CatalogLag />
      <Shown of={together({ models: useEventModels(), sources })}>
        {({ models, sources }) =>
          models.length === 0 ? <Empty text={schemaTexts.empty} /> : <Models models={models} sources={sources} />
        }
      </Shown>
    </>
  )
}

interface ModelsProps {
  readonly models: readonly EventModelWithExtras[]
  readonly sources: readonly Source[]
}

function Models({ models, sources }: ModelsProps) {
  const [search, set] = useSearchValues(schemaSearch)
  const { q = '', source, type, sort } = search
  const sourceNames = useMemo(() => new Map(sources.map(({ writeKey, name }) => [writeKey, name])), [sources])
  const shown = models.filter((model) => fits(model, search, sources))
  return (
    <>
      <div className={styles.filters}>
        <SearchField label="Event" className={styles.filter} value={q} onChange={(q) => set({ q })} />
        <Select
          className={styles.choice}
          aria-label="Source"
          placeholder="Source"
          data={sources.map(({ id, name }) => ({ value: id, label: name }))}
          value={source ?? null}
          onChange={(value) => set({ source: value ?? undefined })}
          searchable
          clearable
        />
        <Select
          className={styles.choice}
          aria-label="Type"
          placeholder="Type"
          data={[...EVENT_TYPES]}
          value={type ?? null}
          onChange={(value) => set({ type: (value as EventType | null) ?? undefined })}
          clearable
        />
      </div>
      {shown.length === 0 ? (
        <EmptyByFilter onClear={() => set({ q: undefined, source: undefined, type: undefined })} />
      ) : (
        <ModelList models={shown} sourceNames={sourceNames} sort={sort} onSort={(sort) => set({ sort })} />
      )}
    </>
  )
}

function fits(
  model: EventModelWithExtras,
  search: SearchValues<typeof schemaSearch>,
  sources: readonly Source[],
): boolean {
  const { q = '', source, type } = search
  return (
    isPartOf(q, model.EventIdentifier) &&
    (type === undefined || model.EventType === type) &&
    (source === undefined || sources.find(({ id }) => id === source)?.writeKey === model.WriteKey)
  )
}
