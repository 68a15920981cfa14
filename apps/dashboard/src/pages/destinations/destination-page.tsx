import { useParams } from '@tanstack/react-router'
import { type ComponentType, Suspense } from 'react'
import { useDestinationDefinition } from '../../api/destination-definitions.ts'
import { useDeliveryState, useDestination } from '../../api/destinations.ts'
import { serverNow } from '../../api/requests/server-clock.ts'
import { lazyPart } from '../../components/lazy-part.ts'
import { destinationState } from '../../components/node-state.ts'
import { ShownId } from '../../components/shown-id.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { Loading } from '../../components/states/loading.tsx'
import { titleOf } from '../../components/states/read-state.ts'
import { Shown } from '../../components/states/shown.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { PageMissing } from '../../shell/page/page-missing.tsx'
import { destinationTexts } from '../../texts.ts'
import { DestinationActions } from './destination-actions.tsx'
import type { DestinationTabProps } from './destination-tab-props.ts'

interface Tab {
  readonly name: string
  readonly text: string
  readonly Content: ComponentType<DestinationTabProps>
}

/** In the order in which they stand. */
const TABS: readonly Tab[] = [
  {
    name: 'overview',
    text: 'Overview',
    Content: lazyPart(() =>
      import('./overview/destination-overview.tsx').then(({ DestinationOverview }) => ({
        default: DestinationOverview,
      })),
    ),
  },
  {
    name: 'config',
    text: 'Configuration',
    Content: lazyPart(() =>
      import('./config/destination-config.tsx').then(({ DestinationConfig }) => ({ default: DestinationConfig })),
    ),
  },
  {
    name: 'transformations',
    text: 'Transformations',
    Content: lazyPart(() =>
      import('./transformations/destination-chain.tsx').then(({ DestinationChain }) => ({ default: DestinationChain })),
    ),
  },
  {
    name: 'connections',
    text: 'Connections',
    Content: lazyPart(() =>
      import('./connections/destination-connections.tsx').then(({ DestinationConnections }) => ({
        default: DestinationConnections,
      })),
    ),
  },
  {
    name: 'events',
    text: 'Events',
    Content: lazyPart(() =>
      import('./events/destination-events.tsx').then(({ DestinationEvents }) => ({ default: DestinationEvents })),
    ),
  },
]

export function DestinationPage() {
  const { id = '', tab } = useParams({ strict: false }) as { id?: string; tab?: string }
  const reading = useDestination(id)
  const current = TABS.find(({ name }) => name === tab)
  if (current === undefined) return <PageMissing />
  const { Content } = current
  const destination = reading.data
  return (
    <>
      <PageHead
        title={titleOf(reading, ({ name }) => name, 'Destination')}
        meta={destination && <DestinationMeta destination={destination} />}
        actions={destination && <DestinationActions key={destination.id} destination={destination} />}
        tabs={TABS.map(({ name, text }) => ({ text, to: `/destinations/${id}/${name}`, isCurrent: name === tab }))}
      />
      <Shown of={reading} thing="Destination" id={id}>
        {(destination) => (
          <Suspense key={tab} fallback={<Loading />}>
            {/* What was written of one destination never stands at another. */}
            <Content key={destination.id} destination={destination} />
          </Suspense>
        )}
      </Shown>
    </>
  )
}

function DestinationMeta({ destination }: DestinationTabProps) {
  const delivery = useDeliveryState(destination.id).data
  const definition = useDestinationDefinition(destination.type).data
  const { kind, word } = destinationState(destination, delivery, serverNow())
  return (
    <>
      <span>{definition?.displayName ?? destination.type}</span>
      <StateMark kind={kind}>{word}</StateMark>
      {definition?.options['verified'] === false && <StateMark kind="behind">{destinationTexts.notVerified}</StateMark>}
      <ShownId id={destination.id} />
    </>
  )
}
