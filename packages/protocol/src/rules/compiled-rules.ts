import { eventName } from '../event.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '../json.ts'
import type {
  ConnectionRule,
  ConnectionRules,
  RuleCondition,
  RuleEvents,
  RuleReason,
  RuleValue,
} from './connection-rules.ts'
import { namePattern } from './name-pattern.ts'

type Test = (event: JsonObject) => boolean

/** Rules made ready once, to be asked for each event. */
export class CompiledRules {
  readonly #tests: readonly Test[]
  /** By the number of the rule that decides; 0: none matches. Undefined lets the event through. */
  readonly #reasons: readonly (RuleReason | undefined)[]

  constructor({ otherwise, list }: ConnectionRules) {
    this.#tests = list.map(compiledRule)
    this.#reasons = [
      otherwise === 'deny' ? 'no connection rule' : undefined,
      ...list.map(({ action }, i) => (action === 'deny' ? (`connection rule ${i + 1}` as const) : undefined)),
    ]
  }

  /** Number of the first rule that matches, from 1 on; 0 if none does. */
  match(event: JsonObject): number {
    const tests = this.#tests
    for (let i = 0; i < tests.length; i++) if (tests[i]!(event)) return i + 1
    return 0
  }

  /** Why an event is left out; undefined if it goes. */
  reason(event: JsonObject): RuleReason | undefined {
    return this.#reasons[this.match(event)]
  }
}

function compiledRule({ types, events, conditions = [] }: ConnectionRule): Test {
  const tests: Test[] = []
  if (types !== undefined) {
    const wanted = new Set<JsonValue | undefined>(types)
    tests.push((event) => wanted.has(event['type']))
  }
  if (events !== undefined) tests.push(nameTest(events))
  for (const condition of conditions) tests.push(conditionTest(condition))
  const [only] = tests
  if (tests.length === 1) return only!
  return (event) => tests.every((test) => test(event))
}

/** Blanks around a name do not count, as in the event list of a destination. An event without a name has none of them. */
function nameTest({ match, names }: RuleEvents): Test {
  const exact = new Set(match === 'exact' ? names : [])
  const tests = match === 'pattern' ? names.map(namePattern) : []
  const isListed = {
    exact: (name: string) => exact.has(name),
    prefix: (name: string) => names.some((prefix) => name.startsWith(prefix)),
    pattern: (name: string) => tests.some((test) => test(name)),
  }[match]
  return (event) => {
    const name = eventName(event).trim()
    return name !== '' && isListed(name)
  }
}

function conditionTest(condition: RuleCondition): Test {
  const names = condition.path.split('.')
  const holds = valueTest(condition)
  return (event) => holds(memberAt(event, names))
}

/** An absent member fails every comparison, and so passes each that begins with `not_`. */
function valueTest(condition: RuleCondition): (found: JsonValue | undefined) => boolean {
  switch (condition.operator) {
    case 'exists':
      return isThere
    case 'not_exists':
      return not(isThere)
    case 'equals':
    case 'not_equals':
      return negatedIf(condition.operator === 'not_equals', (found) => found === condition.value)
    case 'in':
    case 'not_in': {
      const values = new Set<JsonValue | undefined>(condition.value)
      return negatedIf(condition.operator === 'not_in', (found) => values.has(found))
    }
    case 'contains':
    case 'not_contains':
      return negatedIf(condition.operator === 'not_contains', (found) => contains(found, condition.value))
    case 'matches':
    case 'not_matches': {
      const fits = namePattern(condition.value)
      return negatedIf(condition.operator === 'not_matches', (found) => typeof found === 'string' && fits(found))
    }
    case 'greater':
      return (found) => numberOf(found) > condition.value
    case 'at_least':
      return (found) => numberOf(found) >= condition.value
    case 'less':
      return (found) => numberOf(found) < condition.value
    case 'at_most':
      return (found) => numberOf(found) <= condition.value
  }
}

function isThere(found: JsonValue | undefined): boolean {
  return found !== undefined && found !== null
}

type ValueTest = (found: JsonValue | undefined) => boolean

function not(test: ValueTest): ValueTest {
  return (found) => !test(found)
}

function negatedIf(isNegated: boolean, test: ValueTest): ValueTest {
  return isNegated ? not(test) : test
}

/** Part of a text, or an element of a list. */
function contains(found: JsonValue | undefined, value: RuleValue): boolean {
  if (Array.isArray(found)) return found.includes(value)
  return typeof found === 'string' && typeof value === 'string' && found.includes(value)
}

/** Longer texts are no numbers that anyone compares. */
const MAX_NUMBER_CHARS = 40

/** A decimal number given as text counts; anything else is smaller and greater than nothing. */
function numberOf(found: JsonValue | undefined): number {
  if (typeof found === 'number') return found
  const isNumber = typeof found === 'string' && found.length <= MAX_NUMBER_CHARS && /^-?\d+(\.\d+)?$/.test(found)
  return isNumber ? Number(found) : Number.NaN
}

function memberAt(event: JsonObject, names: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = event
  for (const name of names) {
    if (isJsonObject(value)) value = ownMember(value, name)
    else if (Array.isArray(value)) value = /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined
    else return undefined
  }
  return value
}
