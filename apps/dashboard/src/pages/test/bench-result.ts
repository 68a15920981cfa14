import type { DestinationResult } from '@millrace/api-types'

/** A result in the form of the panes: the reason why a destination did not run is beside its name. */
export type ShownResult = DestinationResult & {
  readonly extras?: Extract<DestinationResult, { data: unknown }>['extras']
}

/** The chosen destination, else the first that ran. */
export function shownAt(results: readonly DestinationResult[], chosenId: string | undefined): ShownResult | undefined {
  return (
    results.find(({ destinationId }) => destinationId === chosenId) ??
    results.find((result) => 'data' in result) ??
    results[0]
  )
}
