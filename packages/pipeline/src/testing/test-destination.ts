import type { ConfiguredDestination } from '../following/configuration.ts'

export type DestinationChange = Partial<Omit<ConfiguredDestination, 'delivery'>> & {
  delivery?: Partial<ConfiguredDestination['delivery']>
}

/** An enabled webhook destination without a URL, with these changes. */
export function destinationOf(id: string, { delivery, ...change }: DestinationChange): ConfiguredDestination {
  return {
    id,
    name: id,
    workspaceId: 'w1',
    type: 'WEBHOOK',
    isEnabled: true,
    config: {},
    delivery: {
      concurrency: 100,
      ordering: 'strict',
      throttle: null,
      keepAnswers: 'failed',
      onTransformationError: 'dead_letter',
      ...delivery,
    },
    transformations: [],
    revision: 1,
    ...change,
  }
}
