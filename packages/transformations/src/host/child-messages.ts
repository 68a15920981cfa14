import { isJsonObject, isNestedDeeper, type JsonObject } from '@millrace/protocol'
import type { CheckedCode, CheckResult } from '../code.ts'
import type { TransformRequest } from '../fetch.ts'
import {
  FETCH_TIMEOUT_MS,
  MAX_CODE_IMPORTS,
  MAX_FAILURE_CHARS,
  MAX_FETCH_REQUEST_BYTES,
  MAX_FETCHES_PER_EVENT,
  MAX_IMPORT_NAME_CHARS,
  MAX_LOG_LINE_BYTES,
  MAX_LOG_LINES,
  MAX_OUTPUT_BYTES,
  MAX_OUTPUT_LEVELS,
  MAX_OUTPUTS_PER_EVENT,
} from '../limits.ts'
import { SANDBOX_TROUBLES, type SandboxTrouble } from '../run.ts'

/*
 * The reader of what a child sends. User code that has left its sandbox speaks here, so a message is read as a request
 * from the internet would be: closed shapes, exact lengths, numbers within the batch that was sent, texts with a bound.
 * Nothing of the parsed message goes on but checked texts, checked numbers, and the output events.
 */

/** What was asked, and so what may come back. */
export type AskedOfChild =
  | { readonly kind: 'start' }
  | { readonly kind: 'check'; readonly code: CheckedCode['kind'] }
  | {
      readonly kind: 'run'
      readonly events: number
      readonly steps: number
      readonly isFresh: boolean
      readonly captureLogs: boolean
      /** Whether the child has not been given code and credentials yet. */
      readonly mayNeed: boolean
      /** The last fetch that it has asked for; 0 before the first. */
      readonly lastFetch: number
    }

export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'checked'; readonly result: CheckResult }
  | { readonly kind: 'needs'; readonly code: boolean; readonly credentials: boolean }
  | { readonly kind: 'waits'; readonly fetches: readonly FetchRequest[] }
  | Settled

export interface FetchRequest {
  readonly id: number
  readonly request: TransformRequest
  /** Of its text. */
  readonly chars: number
}

export interface Settled {
  readonly kind: 'settled'
  /** In order, up to the last that ran. Empty after a trouble. */
  readonly steps: readonly StepOutputs[]
  readonly trouble?: SandboxTrouble
  readonly logs: readonly string[]
  readonly loggedBy: readonly number[]
  readonly loggedFor: readonly (number | null)[]
  readonly sandboxBytes: number
  readonly residentBytes: number
}

/** What a step gave; outputs and errors by event of the run. */
export interface StepOutputs {
  /** Absent where only their number was asked for. */
  readonly outputs?: readonly (readonly JsonObject[])[]
  readonly count: number
  readonly errors: ReadonlyMap<number, string>
  /** Of one output, on the average. */
  readonly outputBytes: number
}

/** What is wrong with a message, in words of ours: nothing of the message is in it. */
export class InvalidMessageError extends Error {
  override readonly name = 'InvalidMessageError'
  readonly code = 'invalid-message'
}

/**
 * @param texts of one frame, the message first (messages.ts).
 * @throws InvalidMessageError
 */
export function readReply([json = '', ...texts]: readonly string[], asked: AskedOfChild): Reply {
  const { kind, ...message } = object(parsed(json, 'a message'), 'a message')
  switch (`${asked.kind}: ${text(kind, 20, 'a kind')}`) {
    case 'start: ready':
      shaped(message, [])
      none(texts)
      return { kind: 'ready' }
    case 'check: checked':
      none(texts)
      return { kind: 'checked', result: readCheck(shaped(message, ['result'])['result'], asked as Of<'check'>) }
    case 'run: needs':
      none(texts)
      return readNeeds(message, asked as Of<'run'>)
    case 'run: waits':
      return { kind: 'waits', fetches: readFetches(message, texts, asked as Of<'run'>) }
    case 'run: settled':
      return readSettled(message, texts, asked as Of<'run'>)
    default:
      throw new InvalidMessageError(`no reply to ${asked.kind}`)
  }
}

type Of<K extends AskedOfChild['kind']> = Extract<AskedOfChild, { kind: K }>
type Members = Readonly<Record<string, unknown>>

function readCheck(given: unknown, { code }: Of<'check'>): CheckResult {
  const result = object(given, 'a result')
  if (result['ok'] === true) {
    const isTransformation = code === 'transformation'
    const { entry, imports } = shaped(result, isTransformation ? ['ok', 'entry', 'imports'] : ['ok', 'imports'])
    const names = list(imports, MAX_CODE_IMPORTS, 'imports').map((each) =>
      text(each, MAX_IMPORT_NAME_CHARS, 'an import'),
    )
    if (!isTransformation) return { ok: true, imports: names }
    if (entry === 'transformEvent' || entry === 'transformBatch') return { ok: true, entry, imports: names }
    throw new InvalidMessageError('an unknown entry')
  }
  const { ok, error, line, column } = shaped(result, ['ok', 'error'], ['line', 'column'])
  if (ok !== false) throw new InvalidMessageError('ok is neither true nor false')
  return {
    ok,
    error: text(error, MAX_FAILURE_CHARS, 'an error'),
    ...(line === undefined ? {} : { line: whole(line, MAX_PLACE, 'a line') }),
    ...(column === undefined ? {} : { column: whole(column, MAX_PLACE, 'a column') }),
  }
}

function readNeeds(message: Members, { mayNeed }: Of<'run'>): Reply {
  const { code, credentials } = shaped(message, ['code', 'credentials'])
  if (!mayNeed || typeof code !== 'boolean' || typeof credentials !== 'boolean') {
    throw new InvalidMessageError('needs what it has')
  }
  return { kind: 'needs', code, credentials }
}

function readFetches(message: Members, texts: readonly string[], { events, lastFetch }: Of<'run'>): FetchRequest[] {
  const most = MAX_FETCHES_PER_EVENT * events
  const ids = list(shaped(message, ['ids'])['ids'], most, 'fetches')
  if (ids.length !== texts.length) throw new InvalidMessageError('fetches without their texts')
  let last = lastFetch
  return ids.map((given, at) => {
    const id = whole(given, most, 'a fetch')
    if (id <= last) throw new InvalidMessageError('a fetch that was there before')
    last = id
    return { id, request: readRequest(texts[at]!), chars: texts[at]!.length }
  })
}

function readRequest(json: string): TransformRequest {
  if (json.length > MAX_FETCH_REQUEST_BYTES) throw new InvalidMessageError('a request that is too large')
  const required = ['url', 'method', 'headers']
  const request = shaped(object(parsed(json, 'a request'), 'a request'), required, ['body', 'timeoutMs'])
  const headers = object(request['headers'], 'headers')
  for (const name in headers) text(headers[name], json.length, 'a header')
  const { body, timeoutMs } = request
  return {
    url: text(request['url'], json.length, 'a URL'),
    method: text(request['method'], json.length, 'a method'),
    headers: headers as Record<string, string>,
    ...(body === undefined ? {} : { body: text(body, json.length, 'a body') }),
    ...(timeoutMs === undefined ? {} : { timeoutMs: whole(timeoutMs, FETCH_TIMEOUT_MS, 'a time') }),
  }
}

function readSettled(message: Members, texts: readonly string[], asked: Of<'run'>): Settled {
  const told = shaped(message, SETTLED_MEMBERS, ['trouble'])
  const { trouble } = told
  if (trouble !== undefined && !isSandboxTrouble(trouble)) throw new InvalidMessageError('an unknown trouble')
  const logs = list(told['logs'], asked.captureLogs ? MAX_LOG_LINES : 0, 'log lines')
  const by = (name: string) => {
    const parallel = list(told[name], MAX_LOG_LINES, name)
    if (parallel.length !== logs.length) throw new InvalidMessageError('log lines without their origins')
    return parallel
  }
  return {
    kind: 'settled',
    steps: trouble === undefined ? readSteps(texts, asked) : none(texts),
    ...(trouble === undefined ? {} : { trouble }),
    logs: logs.map((line) => text(line, MAX_LOG_LINE_BYTES, 'a log line')),
    loggedBy: by('loggedBy').map((step) => whole(step, asked.steps - 1, 'a step')),
    loggedFor: by('loggedFor').map((event) => (event === null ? null : whole(event, asked.events - 1, 'an event'))),
    sandboxBytes: whole(told['sandboxBytes'], MAX_MEMORY_BYTES, 'bytes'),
    residentBytes: whole(told['residentBytes'], MAX_MEMORY_BYTES, 'bytes'),
  }
}

function readSteps(texts: readonly string[], asked: Of<'run'>): StepOutputs[] {
  if (texts.length < 1 || texts.length > asked.steps) throw new InvalidMessageError('steps that were not asked for')
  const steps = texts.map((each, at) => {
    const hasOutputs = asked.isFresh || at === asked.steps - 1
    return readStep(each, hasOutputs, asked.events)
  })
  if (texts.length < asked.steps && steps.at(-1)!.count > 0) throw new InvalidMessageError('steps are missing')
  return steps
}

function readStep(given: string, hasOutputs: boolean, events: number): StepOutputs {
  const end = given.indexOf('\n')
  if (end === -1 || hasOutputs === (end + 1 === given.length))
    throw new InvalidMessageError('a step without its outputs')
  const header = shaped(object(parsed(given.slice(0, end), 'a header'), 'a header'), [], ['of', 'errors'])
  const most = MAX_OUTPUTS_PER_EVENT * events
  const of = header['of'] === undefined ? undefined : list(header['of'], most, 'outputs')
  const owners = of?.map((owner) => whole(owner, events - 1, 'an event'))
  const counts = new Uint32Array(events)
  for (const owner of owners ?? []) {
    if (++counts[owner]! > MAX_OUTPUTS_PER_EVENT) throw new InvalidMessageError('outputs of one event: too many')
  }
  const errors = readErrors(header['errors'] ?? [], events)
  const count = owners?.length ?? events
  if (!hasOutputs) return { count, errors, outputBytes: 0 }

  const outputs = list(parsed(given.slice(end + 1), 'outputs'), most, 'outputs')
  if (outputs.length !== count) throw new InvalidMessageError('outputs without their events')
  const byEvent = Array.from({ length: events }, (): JsonObject[] => [])
  // Together they are rarely larger than one may be; then none of them is.
  const isSmall = given.length <= MAX_OUTPUT_BYTES && Buffer.byteLength(given) <= MAX_OUTPUT_BYTES
  for (const [at, output] of outputs.entries()) {
    if (!isJsonObject(output)) throw new InvalidMessageError('an output that is no object')
    if (isNestedDeeper(output, MAX_OUTPUT_LEVELS)) throw new InvalidMessageError('an output that is nested too deeply')
    if (!isSmall && Buffer.byteLength(JSON.stringify(output)) > MAX_OUTPUT_BYTES) {
      throw new InvalidMessageError('an output that is too large')
    }
    byEvent[owners === undefined ? at : owners[at]!]!.push(output)
  }
  return { outputs: byEvent, count, errors, outputBytes: Math.ceil((given.length - end) / Math.max(1, count)) }
}

function readErrors(given: unknown, events: number): Map<number, string> {
  const errors = new Map<number, string>()
  for (const each of list(given, events, 'errors')) {
    const pair = list(each, 2, 'an error')
    if (pair.length !== 2) throw new InvalidMessageError('an error that is no pair')
    const event = whole(pair[0], events - 1, 'an event')
    if (errors.has(event)) throw new InvalidMessageError('two errors of one event')
    errors.set(event, text(pair[1], MAX_FAILURE_CHARS, 'an error'))
  }
  return errors
}

const SETTLED_MEMBERS = ['logs', 'loggedBy', 'loggedFor', 'sandboxBytes', 'residentBytes']
/** Lines and columns of code; no code has as many. */
const MAX_PLACE = 1_000_000
const MAX_MEMORY_BYTES = 2 ** 40

function isSandboxTrouble(value: unknown): value is SandboxTrouble {
  return (SANDBOX_TROUBLES as readonly unknown[]).includes(value)
}

function parsed(json: string, what: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new InvalidMessageError(`${what} that is no JSON`)
  }
}

function object(value: unknown, what: string): Members {
  if (!isJsonObject(value)) throw new InvalidMessageError(`${what} that is no object`)
  return value
}

/** All of the required members, some of the optional ones, and no other. */
function shaped(value: Members, required: readonly string[], optional: readonly string[] = []): Members {
  const names = Object.keys(value)
  const isClosed = names.every((name) => required.includes(name) || optional.includes(name))
  if (!isClosed || !required.every((name) => Object.hasOwn(value, name))) throw new InvalidMessageError('other members')
  return value
}

function none(texts: readonly string[]): [] {
  if (texts.length > 0) throw new InvalidMessageError('texts that belong to nothing')
  return []
}

function list(value: unknown, most: number, what: string): unknown[] {
  if (!Array.isArray(value)) throw new InvalidMessageError(`${what} that are no list`)
  if (value.length > most) throw new InvalidMessageError(`${what}: too many`)
  return value
}

function whole(value: unknown, most: number, what: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most) return value as number
  throw new InvalidMessageError(`${what} out of its bounds`)
}

function text(value: unknown, mostChars: number, what: string): string {
  if (typeof value === 'string' && value.length <= mostChars) return value
  throw new InvalidMessageError(`${what} that is no text of its length`)
}
