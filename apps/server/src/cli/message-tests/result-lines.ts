import type { DestinationResult, RequestObject, StageError, StageResult } from '@millrace/api-types'
import { indentedLine, json, oneLine, type Paint } from '../paint.ts'

const NO_TRANSFORMATION = 'Transformation VersionID not found'

/** Whether the test did not run, or a stage failed; a missing transformation is not a failure. */
export function hasFailed(result: DestinationResult): boolean {
  return 'error' in result || result.data.some((each) => stagesOf(each).some(({ state }) => state === 'failed'))
}

/** Results for people: the output of each stage, and the reason of a failure. */
export function resultLines(results: readonly DestinationResult[], paint: Paint): string[] {
  return results.flatMap((result, i) => {
    const { destinationId, destinationName } = result
    const type = 'error' in result ? [] : [result.destination]
    return [
      ...(i === 0 ? [] : ['']),
      [paint('bold', oneLine(destinationName)), ...type, destinationId].join('  '),
      ...('error' in result
        ? [`  ${paint('red', 'not tested')}  ${oneLine(result.error)}`]
        : result.data.flatMap(stagesOf).flatMap((stage) => stageLines(stage, paint))),
    ]
  })
}

interface Stage {
  readonly name: string
  readonly state: 'ok' | 'none' | 'failed'
  readonly summary: string
  readonly details: readonly string[]
}

const COLOURS = { ok: 'green', none: 'yellow', failed: 'red' } as const

function stageLines({ name, state, summary, details }: Stage, paint: Paint): string[] {
  const lines = details.flatMap((detail) => detail.split('\n')).map((line) => `      ${line}`)
  return [`  ${name.padEnd(27)}${paint(COLOURS[state], summary)}`, ...lines]
}

function stagesOf(result: StageResult): Stage[] {
  const { user_transformed_payload: user, dest_transformed_payload: dest, destination_response: response } = result
  return [
    ...(user === undefined ? [] : [userStage(user)]),
    ...(dest === undefined ? [] : [destStage(dest)]),
    ...(response === undefined ? [] : deliveryStages(response, result.destination_response_status ?? [])),
  ]
}

function userStage(user: object): Stage {
  const name = 'user transformation'
  if (!isFailed(user)) return { name, state: 'ok', summary: 'ok', details: [json(user)] }
  return user.error === NO_TRANSFORMATION ? { name, state: 'none', summary: 'none', details: [] } : failed(name, user)
}

function destStage(dest: readonly RequestObject[] | StageError): Stage {
  const name = 'destination transformation'
  if (isFailed(dest)) return failed(name, dest)
  const summary = dest.length === 1 ? '1 request' : `${dest.length} requests`
  const details = dest.map((each) => `${oneLine(`${each.method} ${each.endpoint}`, 1_000)}\n${json(each)}`)
  return { name, state: 'ok', summary, details }
}

function deliveryStages(response: readonly object[] | StageError, statuses: readonly number[]): Stage[] {
  const name = 'delivery'
  if (isFailed(response)) return [failed(name, response)]
  if (response.length === 0) return [{ name, state: 'none', summary: 'nothing to send', details: [] }]
  return response.map((each, i) => {
    const status = statuses[i]!
    const state = status >= 200 && status < 300 ? 'ok' : 'failed'
    return { name, state, summary: String(status), details: [json(each)] }
  })
}

function failed(name: string, { error }: StageError): Stage {
  return { name, state: 'failed', summary: 'failed', details: error.split('\n').map(indentedLine) }
}

/** An object with only an error; an event always has a type. */
function isFailed(value: object): value is StageError {
  return typeof (value as Partial<StageError>).error === 'string' && Object.keys(value).length === 1
}
