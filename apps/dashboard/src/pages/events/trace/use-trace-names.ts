import type { Destination, Journey } from '@millrace/api-types'
import { useMemo } from 'react'
import { useConnections } from '../../../api/connections.ts'
import { useTypeName } from '../../../api/destination-definitions.ts'
import { useDestinations } from '../../../api/destinations.ts'
import { namesOf } from '../../../api/names.ts'
import { useSources } from '../../../api/sources.ts'
import { useTransformations } from '../../../api/transformations.ts'

export interface NamedStep {
  readonly transformationId: string | undefined
  readonly versionId: string
  readonly name: string
}

/** Current names for the ids in a trace. */
export interface TraceNames {
  readonly sourceName: (id: string) => string
  readonly destinationName: (id: string) => string
  readonly typeName: (destinationId: string) => string
  /** The chain that ran. Names are assigned only if the chain still has the same length. */
  readonly steps: (journey: Pick<Journey, 'destinationId' | 'transformationVersionIds'>) => readonly NamedStep[]
  /** Current destinations that the event does not reach, and whether its source is connected to them. */
  readonly others: (
    sourceId: string,
    journeys: readonly Journey[],
  ) => readonly { readonly destination: Destination; readonly isConnected: boolean }[]
}

export function useTraceNames(): TraceNames {
  const sources = useSources().data
  const destinations = useDestinations().data
  const nameOf = useTypeName()
  const transformations = useTransformations().data
  const connections = useConnections().data
  return useMemo(() => {
    const destination = (id: string) => destinations?.find((each) => each.id === id)
    const typeName = (id: string) => {
      const type = destination(id)?.type
      return type === undefined ? 'The destination' : nameOf(type)
    }
    return {
      sourceName: namesOf(sources),
      destinationName: namesOf(destinations),
      typeName,
      steps: ({ destinationId, transformationVersionIds: versionIds }) => {
        const chain = destination(destinationId)?.transformationIds ?? []
        return versionIds.map((versionId, at) => {
          const transformationId = chain.length === versionIds.length ? chain[at] : undefined
          const name = transformations?.find(({ id }) => id === transformationId)?.name ?? 'A transformation'
          return { transformationId, versionId, name }
        })
      },
      others: (sourceId, journeys) =>
        // Nothing is reported as missing until both are loaded.
        destinations === undefined || connections === undefined
          ? []
          : destinations
              .filter(({ id }) => !journeys.some(({ destinationId }) => destinationId === id))
              .map((each) => ({
                destination: each,
                isConnected: connections.some(
                  (connection) => connection.sourceId === sourceId && connection.destinationId === each.id,
                ),
              }))
              .sort((a, b) => Number(b.isConnected) - Number(a.isConnected)),
    }
  }, [sources, destinations, nameOf, transformations, connections])
}
