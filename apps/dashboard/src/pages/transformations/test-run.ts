import type { TransformationRun } from '@millrace/api-types'
import { isJsonObject, type JsonObject } from '@millrace/protocol/json'
import type { CodeFault } from '../../components/editor/editor-props.ts'
import { jsonFault } from '../../components/json/json-fault.ts'

/** The code's output for one event. */
export interface EventRun {
  readonly input: JsonObject
  readonly outputs: readonly JsonObject[]
  readonly isDropped: boolean
  readonly error?: string
}

export function eventRuns(events: readonly JsonObject[], { transformedEvents }: TransformationRun): EventRun[] {
  return events.map((input, at) => {
    const own = transformedEvents.filter((each) => each.input === at)
    const error = own.flatMap((each) => ('error' in each ? [each.error] : []))[0]
    return {
      input,
      outputs: own.flatMap((each) => ('event' in each ? [each.event] : [])),
      isDropped: own.some((each) => 'dropped' in each),
      ...(error === undefined ? {} : { error }),
    }
  })
}

/** Maximum events of one run. @see contracts/transformations.md §9 "Limits of the test run" */
const MOST = 100

export type WrittenEvents = { readonly events: readonly JsonObject[] } | { readonly fault?: CodeFault }

/** One event, or a list of events, as text in an editor. */
export function readEvents(text: string): WrittenEvents {
  const mayRun = ({ length }: readonly unknown[]) => length > 0 && length <= MOST
  return readList(text, mayRun, `An event, or a list of at most ${MOST}, each a JSON object.`)
}

/** The expected output of a test, possibly empty. */
export function readExpected(text: string): WrittenEvents {
  return readList(text, () => true, 'An event, or a list, each a JSON object; [] for nothing.')
}

/** Events as text for an editor. */
export function eventsText(events: readonly JsonObject[]): string {
  return JSON.stringify(events.length === 1 ? events[0] : events, null, 2)
}

function readList(text: string, fits: (list: readonly unknown[]) => boolean, message: string): WrittenEvents {
  if (text.trim() === '') return {}
  const fault = jsonFault(text)
  if (fault !== undefined) return { fault }
  const value: unknown = JSON.parse(text)
  const list = Array.isArray(value) ? value : [value]
  return fits(list) && list.every(isJsonObject) ? { events: list } : { fault: { line: 1, column: 1, message } }
}
