import { Document, isMap, isNode, isSeq, LineCounter, parseDocument } from 'yaml'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from './json.ts'

export const MESSAGE_TEST_FILE_ENDING = '.millrace-test.yaml'

const TESTED_STAGES = ['user', 'dest'] as const

/** A message and its expected result at one destination. @see contracts/control-plane.md §10, dashboard.md N11 */
export interface MessageTest {
  readonly name: string
  /** Key of the destination in the configuration file. */
  readonly destination: string
  /** The compared result: of the user transformations, or the requests of the destination. */
  readonly stage: (typeof TESTED_STAGES)[number]
  readonly message: JsonObject
  /** Members that the result must have; it may have more. */
  readonly expect: JsonValue
}

export interface MessageTestFault {
  /** Line, from 1. */
  readonly line: number
  readonly column: number
  readonly message: string
}

export type MessageTestFile =
  | { readonly tests: readonly MessageTest[] }
  | { readonly faults: readonly MessageTestFault[] }

const MEMBERS = ['name', 'destination', 'stage', 'message', 'expect']
const MAX_FAULTS = 100

/** Reads a `*.millrace-test.yaml` (`tests`, a list of tests). Returns faults with their places. */
export function readMessageTestFile(text: string): MessageTestFile {
  const lines = new LineCounter()
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const wrong = [...yaml.errors, ...yaml.warnings].slice(0, MAX_FAULTS)
  if (wrong.length > 0) return { faults: wrong.map(({ pos, message }) => ({ ...place(pos[0]), message })) }
  let value: unknown
  try {
    value = yaml.toJS()
  } catch (error) {
    // Aliases that are undefined, or so large that they would exhaust memory.
    return { faults: [{ line: 1, column: 1, message: (error as Error).message }] }
  }
  const faults = faultsIn(value)
  if (faults.length === 0) return { tests: (value as { tests: MessageTest[] }).tests }
  const placed = faults.slice(0, MAX_FAULTS).map(({ path, message }) => ({ ...place(offsetOf(yaml, path)), message }))
  return { faults: placed }
}

/** Formats a file with these tests. */
export function messageTestFileText(tests: readonly MessageTest[]): string {
  const list = tests.map(({ name, destination, stage, message, expect }) => {
    return { name, destination, stage, message, expect }
  })
  return new Document({ tests: list }, { compat: 'yaml-1.1', aliasDuplicateObjects: false }).toString({ lineWidth: 0 })
}

interface Fault {
  readonly path: readonly (string | number)[]
  readonly message: string
}

function faultsIn(value: unknown): Fault[] {
  if (!isJsonObject(value)) return [{ path: [], message: 'the file must hold an object: tests' }]
  const unknown = Object.keys(value).filter((member) => member !== 'tests')
  const faults = unknown.map((member): Fault => ({ path: [member], message: `unknown member: ${member}` }))
  const tests = ownMember(value, 'tests')
  if (!Array.isArray(tests)) return [...faults, { path: ['tests'], message: 'tests must be a list' }]
  return [...faults, ...tests.flatMap((test, i) => faultsInTest(test, ['tests', i]))]
}

function faultsInTest(test: JsonValue, path: Fault['path']): Fault[] {
  if (!isJsonObject(test)) return [{ path, message: 'a test must be an object' }]
  const faults: Fault[] = []
  const check = (member: string, isRight: boolean, message: string) => {
    if (!isRight) faults.push({ path: [...path, member], message })
  }
  for (const member of Object.keys(test)) check(member, MEMBERS.includes(member), `unknown member: ${member}`)
  for (const member of ['name', 'destination']) {
    const text = ownMember(test, member)
    check(member, typeof text === 'string' && text.trim() !== '', `${member} is required`)
  }
  const stage = ownMember(test, 'stage')
  check('stage', (TESTED_STAGES as readonly unknown[]).includes(stage), `stage must be ${TESTED_STAGES.join(' or ')}`)
  check('message', isJsonObject(ownMember(test, 'message')), 'message must be an object')
  check('expect', Object.hasOwn(test, 'expect'), 'expect is required')
  return faults
}

/** Offset of the deepest node of a path that exists in the file. */
function offsetOf(yaml: Document, path: Fault['path']): number {
  let node: unknown = yaml.contents
  let offset = 0
  for (const name of path) {
    const key = isMap(node)
      ? node.items.find((pair) => isNode(pair.key) && String(pair.key) === String(name))
      : undefined
    const next = key?.value ?? (isSeq(node) ? node.items[Number(name)] : undefined)
    const named = key?.key ?? next
    if (!isNode(named)) break
    offset = named.range?.[0] ?? offset
    node = next
  }
  return offset
}
