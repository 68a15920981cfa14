import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol/json'
import type { EventEnd, Thrown } from '../messages.ts'
import type { Core, CoreAction, CoreBatchResult } from './core.ts'

/** What all runs of a batch share. */
export interface BatchBundle {
  readonly mapping: JsonObject
  readonly [name: string]: unknown
}

export interface BatchRunOptions {
  readonly core: Core
  readonly action: CoreAction
  /** A fresh copy for each run: destination code changes it in place. */
  readonly bundleOf: (events: readonly JsonObject[]) => BatchBundle
  readonly thrownBy: (error: unknown) => Thrown
}

/**
 * Runs events of one mapping together. Events whose values of the action's batch keys differ run apart, one after the other,
 * because the code takes such values from the first event.
 *
 * @returns a result for each event.
 * @throws what the code threw where all events ran together.
 * @see contracts/destination-catalog.md §9.3
 */
export async function runBatch(events: readonly JsonObject[], options: BatchRunOptions): Promise<EventEnd[]> {
  const groups = groupsOf(events, options)
  if (groups.length === 1) return executed(events, options)
  const results: EventEnd[] = []
  for (const places of groups) {
    const of = await resultsOf(
      places.map((at) => events[at]!),
      options,
    )
    for (const [i, at] of places.entries()) results[at] = of[i]!
  }
  return results
}

async function resultsOf(events: readonly JsonObject[], options: BatchRunOptions): Promise<EventEnd[]> {
  try {
    return await executed(events, options)
  } catch (error) {
    const thrown = options.thrownBy(error)
    return events.map(() => ({ thrown }))
  }
}

/** An answer that covers the whole run and is no success. */
export class WholeAnswerError extends Error {
  override readonly name = 'WholeAnswerError'
  readonly status: number

  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}

async function executed(
  events: readonly JsonObject[],
  { core, action, bundleOf }: BatchRunOptions,
): Promise<EventEnd[]> {
  let isWhole = true
  const { performBatch } = action.definition
  const noted = Object.create(action) as CoreAction
  noted.definition = {
    ...action.definition,
    performBatch: async (...given) => {
      const answer = await performBatch!(...given)
      isWhole = !(answer instanceof core.MultiStatusResponse)
      return answer
    },
  }
  const found = await noted.executeBatch(bundleOf(events))
  const results = events.map((_, at) => resultOf(found[at]))
  const refused = isWhole ? results.find(({ status, isInvalid }) => !isInvalid && !isGood(status)) : undefined
  if (refused !== undefined) throw new WholeAnswerError(refused.status, refused.text)
  return results
}

function resultOf(found: CoreBatchResult | undefined): Exclude<EventEnd, { thrown: Thrown }> {
  if (found === undefined)
    return { status: 500, text: 'the definition gave no result for this event', isInvalid: false }
  const { status, errormessage, errortype, body } = found
  const isInvalid = errortype === 'PAYLOAD_VALIDATION_FAILED' && body === undefined
  return { status: Number(status), text: isGood(Number(status)) ? '' : textOf(errormessage ?? body), isInvalid }
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.slice(0, MAX_TEXT)
}

const MAX_TEXT = 1_000

/** Places of events that may run together. */
function groupsOf(events: readonly JsonObject[], { core, action, bundleOf }: BatchRunOptions): number[][] {
  const { fields } = action.definition
  if (fields?.['batch_keys'] === undefined) return [[...events.keys()]]
  const { mapping } = bundleOf(events)
  const names = batchKeys(mapping['batch_keys'] ?? fields['batch_keys'].default)
  const groups = new Map<string, number[]>()
  for (const [at, event] of events.entries()) {
    const payload = core.transform(mapping, event)
    const key = JSON.stringify(names.map((name) => (isJsonObject(payload) ? payload[name] : undefined)))
    const places = groups.get(key)
    if (places === undefined) groups.set(key, [at])
    else places.push(at)
  }
  return [...groups.values()]
}

function batchKeys(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
