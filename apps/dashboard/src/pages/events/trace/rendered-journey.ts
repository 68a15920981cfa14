import type { DestinationResult, EventTrace, Journey, Rendered } from '@millrace/api-types'

/**
 * The part of the server's answer to `?render=` for one delivery of the event at `position`; undefined if the server
 * cannot render it, as for a removed destination.
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

/** The same from a run of the Test API, which uses the current configuration only. */
export function renderedToday({ data, extras }: Extract<DestinationResult, { readonly data: unknown }>): Rendered {
  const steps = (extras?.steps ?? []).map(({ output = [], error = null, ...step }) => ({ ...step, output, error }))
  const requests = data.flatMap(({ dest_transformed_payload: made }) => (Array.isArray(made) ? made : []))
  return { versions: 'today', steps, requests }
}
