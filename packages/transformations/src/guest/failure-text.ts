import { MAX_FAILURE_CHARS } from '../limits.ts'

/** Where the code of a version and of its libraries stands, as its stack lines name it. */
export const BASE_PLACE = 'base transformation'
export const LIBRARY_PLACE = 'library '

/**
 * The text for an error thrown by user code: `<name>: <message>` and its stack lines, without those that are not the
 * user's own. The stack is text that the user may have made.
 *
 * @see contracts/transformations.md §5
 */
export function failureText(name: string, message: string, stack: string): string {
  if (name === 'RangeError' && message === NO_BUFFER) return 'Memory limit exceeded'
  const head = message === '' ? name : name === '' ? message : `${name}: ${message}`
  const lines = stack.split('\n').flatMap((line) => userLine(line) ?? [])
  const last = lines.findLastIndex((line) => /\btransform(Event|Batch)\b/.test(line))
  const shown = last === -1 ? lines : lines.slice(0, last + 1)
  return [head, ...shown].join('\n').slice(0, MAX_FAILURE_CHARS)
}

/** How the engine says that the memory limit leaves no room for a buffer. It goes on after that. */
const NO_BUFFER = 'Array buffer allocation failed'

/** `at [function] (place:line:column)` or, without a function, `at place:line:column`. */
const FRAME = /^ {4}at (?:(async )?(.+) \()?(?:async )?((?:base transformation|library [\p{L}\p{N}]+):\d+:\d+)\)?$/u

function userLine(line: string): string | undefined {
  const match = FRAME.exec(line)
  if (match === null) return undefined
  const [, isAsync = '', name, place] = match
  if (name === undefined) return line
  return `    at ${isAsync}${name.replace(/^Module\./, '')} (${place})`
}
