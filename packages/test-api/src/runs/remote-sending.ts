import type { RequestObject } from '@millrace/destinations'
import { type Answered, type MadeRequests, RemoteClient, sendOnce, UnitRequest } from '@millrace/pipeline'
import type { Clock } from '@millrace/std'
import type { TestClient } from '../test-api-options.ts'

/** What remote code sent, and what it got. The first three are parallel. */
export interface RemoteSent {
  readonly objects: readonly RequestObject[]
  readonly answers: readonly Answered[]
  readonly durations: readonly number[]
  readonly derivedSecrets: readonly string[]
  /** Texts of units that were not delivered although their last request was. */
  readonly faults: readonly string[]
}

/** Runs the units of events once, in order, with real sending. @see contracts/destination-catalog.md §8.4 [C47] */
export async function sendRemote(
  made: readonly MadeRequests[],
  client: TestClient,
  signal: AbortSignal,
  clock: Clock,
): Promise<RemoteSent> {
  const units = made.flatMap(({ ready }) => ready.requests).filter((request) => request instanceof UnitRequest)
  const remote = new RemoteClient(client, clock)
  for await (const { kind } of sendOnce(units, remote, signal)) if (kind === 'no_answer' && signal.aborted) break
  const exchanges = units.flatMap((unit) => unit.exchanges)
  const answered = exchanges.flatMap(({ request, result }) => (result.kind === 'aborted' ? [] : [{ request, result }]))
  return {
    objects: answered.map(({ request }) => request.object),
    answers: answered.map(({ result }) => result),
    durations: answered.map(({ result }) => result.durationMs),
    derivedSecrets: units.flatMap(({ derivedSecrets }) => derivedSecrets),
    faults: units.flatMap((unit) => faultOf(unit, signal)),
  }
}

function faultOf({ outcome, exchanges, unit }: UnitRequest, signal: AbortSignal): string[] {
  if (outcome === undefined) return signal.aborted ? ['Timed out'] : []
  const last = exchanges.at(-1)?.result
  const isInAnswer = last !== undefined && (last.kind !== 'answer' || last.status >= 300)
  return outcome.kind === 'delivered' || isInAnswer ? [] : [`${unit.name}: ${outcome.text}`]
}
