import type { TestResult } from '../../api/test-api.ts'

/** A result as the panes take it: what a destination that was not processed has to say stands at its name. */
export type ShownResult = TestResult & { readonly extras?: Extract<TestResult, { data: unknown }>['extras'] }

/** The one that is chosen, else the first that was processed. */
export function shownAt(results: readonly TestResult[], chosenId: string | undefined): ShownResult | undefined {
  return (
    results.find(({ destinationId }) => destinationId === chosenId) ??
    results.find((result) => 'data' in result) ??
    results[0]
  )
}
