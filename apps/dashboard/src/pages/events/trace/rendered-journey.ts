import type { DestinationResult, EventTrace, Journey, Rendered } from '@millrace/api-types'

/**
 * What the server's answer to `?render=` says of one journey of the event at `position`; undefined where it can make nothing
 * of it, as for a destination that is gone.
 *
 * @see contracts/dashboard.md §4 N7
 */
export function renderedJourney(
  events: readonly EventTrace[],
  position: string,
  { destinationId, replayId }: Pick<Journey, 'destinationId' | 'replayId'>,
): Rendered | undefined {
  const journeys = events.find((event) => event.position === position)?.destinations
  return journeys?.find((each) => each.destinationId === destinationId && each.replayId === replayId)?.rendered
}

/** The same of a run of the Test API, which knows today's configuration only. */
export function renderedToday({ data, extras }: Extract<DestinationResult, { readonly data: unknown }>): Rendered {
  const steps = (extras?.steps ?? []).map(({ output = [], error = null, ...step }) => ({ ...step, output, error }))
  const requests = data.flatMap(({ dest_transformed_payload: made }) => (Array.isArray(made) ? made : []))
  return { versions: 'today', steps, requests }
}
