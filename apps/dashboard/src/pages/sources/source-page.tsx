import { useParams } from '@tanstack/react-router'
import { type ComponentType, Suspense } from 'react'
import { useSource } from '../../api/sources.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { ShownId } from '../../components/shown-id.tsx'
import { OnOffMark } from '../../components/state-mark.tsx'
import { Loading } from '../../components/states/loading.tsx'
import { titleOf } from '../../components/states/read-state.ts'
import { Shown } from '../../components/states/shown.tsx'
import { Unconnected } from '../../components/unconnected.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { PageMissing } from '../../shell/page/page-missing.tsx'
import type { SourceTabProps } from './source-tab-props.ts'

interface Tab {
  readonly name: string
  readonly text: string
  readonly Content: ComponentType<SourceTabProps>
}

/** In display order. */
const TABS: readonly Tab[] = [
  {
    name: 'setup',
    text: 'Setup',
    Content: lazyPart(() => import('./setup/source-setup.tsx').then(({ SourceSetup }) => ({ default: SourceSetup }))),
  },
  {
    name: 'events',
    text: 'Events',
    Content: lazyPart(() =>
      import('./events/source-events.tsx').then(({ SourceEvents }) => ({ default: SourceEvents })),
    ),
  },
  {
    name: 'connections',
    text: 'Connections',
    Content: lazyPart(() =>
      import('./connections/source-connections.tsx').then(({ SourceConnections }) => ({ default: SourceConnections })),
    ),
  },
  {
    name: 'refused',
    text: 'Refused',
    Content: lazyPart(() =>
      import('./refused/source-refused.tsx').then(({ SourceRefused }) => ({ default: SourceRefused })),
    ),
  },
  {
    name: 'schema',
    text: 'Schema',
    Content: lazyPart(() =>
      import('./schema/source-schema.tsx').then(({ SourceSchema }) => ({ default: SourceSchema })),
    ),
  },
  {
    name: 'settings',
    text: 'Settings',
    Content: lazyPart(() =>
      import('./settings/source-settings.tsx').then(({ SourceSettings }) => ({ default: SourceSettings })),
    ),
  },
]

export function SourcePage() {
  const { id = '', tab } = useParams({ strict: false }) as { id?: string; tab?: string }
  const reading = useSource(id)
  const current = TABS.find(({ name }) => name === tab)
  if (current === undefined) return <PageMissing />
  const { Content } = current
  return (
    <>
      <PageHead
        title={titleOf(reading, ({ name }) => name, 'Source')}
        meta={reading.data && <SourceMeta source={reading.data} />}
        tabs={TABS.map(({ name, text }) => ({ text, to: `/sources/${id}/${name}`, isCurrent: name === tab }))}
      />
      <Shown of={reading} thing="Source" id={id}>
        {(source) => (
          <>
            <Unconnected source={source} hasButton={tab !== 'connections'} />
            <Suspense key={tab} fallback={<Loading />}>
              {/* Input for one source must not appear for another. */}
              <Content key={source.id} source={source} />
            </Suspense>
          </>
        )}
      </Shown>
    </>
  )
}

function SourceMeta({ source }: SourceTabProps) {
  return (
    <>
      <span>{source.type}</span>
      <OnOffMark isOn={source.enabled} />
      <ShownId id={source.id} />
    </>
  )
}
