import type { DestinationResult, RequestObject, TestExtras } from '@millrace/api-types'
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol/json'
import type { StageFlags } from '../../api/test-api.ts'

export type ProcessedResult = Extract<DestinationResult, { readonly data: unknown }>

/**
 * `refused`: the answer was not 2xx; `off`: not requested; `aborted`: an earlier stage failed; `none`: nothing to run.
 */
export type StageState = 'ran' | 'refused' | 'off' | 'aborted' | 'none' | 'dropped' | 'error'

export interface StageOutcome {
  readonly state: StageState
  /** Replaces the word of the state: the statuses of the answers. */
  readonly word?: string
  /** The reason of an `error`. */
  readonly text?: string
}

export interface StageOutcomes {
  readonly user: StageOutcome
  readonly dest: StageOutcome
  readonly send: StageOutcome
}

/** Texts of contracts/test-api.md §6. */
const NOT_ATTACHED = 'Transformation VersionID not found'
const DROPPED = 'event was dropped by the user transformation'
const ABORTED = /^error encountered in \w+ stage\. Aborting\.$/

/** The outcomes of the three stages. @see contracts/test-api.md §6 */
export function stageOutcomes(result: ProcessedResult, flags: StageFlags): StageOutcomes {
  const { user_transformed_payload, dest_transformed_payload, destination_response } = result.data[0] ?? {}
  return {
    user: flags.user_transform ? userOutcome(user_transformed_payload, result.extras) : { state: 'off' },
    dest: flags.dest_transform ? laterOutcome(dest_transformed_payload) : { state: 'off' },
    send: flags.send_to_destination ? sendOutcome(result, destination_response) : { state: 'off' },
  }
}

/** The stage worked, but the answer was not a success. */
export function isRefused(status: number): boolean {
  return status < 200 || status > 299
}

function sendOutcome(result: ProcessedResult, response: unknown): StageOutcome {
  const outcome = laterOutcome(response)
  const statuses = exchanges(result).flatMap(({ status }) => (status === undefined ? [] : [status]))
  if (outcome.state !== 'ran' || statuses.length === 0) return outcome
  return { state: statuses.some(isRefused) ? 'refused' : 'ran', word: statuses.join(', ') }
}

/** One request with its answer; if the requests were not requested, only the answer is known. */
export interface Exchange {
  readonly request?: RequestObject
  readonly answer?: JsonValue
  readonly status?: number
  readonly ms?: number
}

/** The requests of a run in order, with their answers if they were sent. */
export function exchanges(result: ProcessedResult): readonly Exchange[] {
  const { dest_transformed_payload, destination_response, destination_response_status = [] } = result.data[0] ?? {}
  const requests = Array.isArray(dest_transformed_payload) ? (dest_transformed_payload as RequestObject[]) : []
  const answers = Array.isArray(destination_response) ? (destination_response as JsonValue[]) : []
  const times = result.extras?.timings?.requests ?? []
  return Array.from({ length: Math.max(requests.length, answers.length) }, (_, at) => ({
    ...(requests[at] === undefined ? {} : { request: requests[at] }),
    ...(answers[at] === undefined ? {} : { answer: answers[at] }),
    ...(destination_response_status[at] === undefined ? {} : { status: destination_response_status[at] }),
    ...(times[at] === undefined ? {} : { ms: times[at].ms }),
  }))
}

/** A transformation in order, with its input and its output. */
export interface Step {
  readonly transformationId: string
  readonly versionId: string
  readonly input: readonly JsonObject[]
  readonly output: readonly JsonObject[]
  readonly error?: string
}

export function stepsOf(message: JsonObject, { steps = [] }: TestExtras): readonly Step[] {
  let input: readonly JsonObject[] = [message]
  return steps.map(({ output = [], ...step }) => {
    const made = { ...step, input, output }
    input = output
    return made
  })
}

function userOutcome(payload: JsonObject | undefined, extras: TestExtras = {}): StageOutcome {
  const error = errorOf(payload)
  // An event may have a member called `error` and no other.
  if (error === undefined || (extras.userTransformedEvents ?? []).length > 0) return { state: 'ran' }
  if (error === NOT_ATTACHED && (extras.steps ?? []).length === 0) return { state: 'none' }
  return error === DROPPED ? { state: 'dropped' } : { state: 'error', text: error }
}

function laterOutcome(made: unknown): StageOutcome {
  const error = errorOf(made)
  if (error === undefined) return Array.isArray(made) && made.length === 0 ? { state: 'none' } : { state: 'ran' }
  return ABORTED.test(error) ? { state: 'aborted' } : { state: 'error', text: error }
}

function errorOf(value: unknown): string | undefined {
  if (!isJsonObject(value as JsonValue)) return undefined
  const { error } = value as JsonObject
  return typeof error === 'string' && Object.keys(value as JsonObject).length === 1 ? error : undefined
}
