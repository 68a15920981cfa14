import type { DestinationResult } from '@millrace/api-types'

/** A result as the panes take it: what a destination that was not processed has to say stands at its name. */
export type ShownResult = DestinationResult & {
  readonly extras?: Extract<DestinationResult, { data: unknown }>['extras']
}

/** The one that is chosen, else the first that was processed. */
export function shownAt(results: readonly DestinationResult[], chosenId: string | undefined): ShownResult | undefined {
  return (
    results.find(({ destinationId }) => destinationId === chosenId) ??
    results.find((result) => 'data' in result) ??
    results[0]
  )
}
