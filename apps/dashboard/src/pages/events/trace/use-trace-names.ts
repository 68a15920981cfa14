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

/** What a trace names by ids alone, as people know it today. */
export interface TraceNames {
  readonly sourceName: (id: string) => string
  readonly destinationName: (id: string) => string
  readonly typeName: (destinationId: string) => string
  /** The chain that ran. Who is who is known as long as the chain has the length that it had. */
  readonly steps: (journey: Pick<Journey, 'destinationId' | 'transformationVersionIds'>) => readonly NamedStep[]
  /** Destinations of today that have no part in the journey of an event, and whether its source is connected to them. */
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
        // Until both are known nothing is said to be missing.
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
