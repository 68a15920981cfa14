import { EVENT_TYPES } from '../event.ts'
import { isJsonObject, type JsonObject, type JsonValue, memberPath, ownMember } from '../json.ts'
import {
  type ConnectionRule,
  type ConnectionRules,
  NAME_MATCHES,
  OPERATORS,
  RULE_ACTIONS,
  RULE_LIMITS,
  type RuleCondition,
  type RuleEvents,
  type RuleOperator,
  type RuleValue,
} from './connection-rules.ts'

/** What is wrong with written rules, and where. */
export class RuleFaultError extends Error {
  override readonly name = 'RuleFaultError'
  readonly code = 'RULE_FAULT'
  /** JSON pointer from the rules on. */
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/**
 * Reads rules as a client writes them.
 *
 * @returns undefined for null and for rules that let everything through.
 * @throws RuleFaultError
 */
export function readRules(written: JsonValue): ConnectionRules | undefined {
  if (written === null) return undefined
  const object = objectOf(written, '', ['otherwise', 'list'])
  const otherwise = choiceOf(object, 'otherwise', '', RULE_ACTIONS, 'allow')
  const list = listOf(object['list'] ?? [], '/list', 0, RULE_LIMITS.rules).map((rule, i) =>
    readRule(rule, `/list/${i}`),
  )
  if (otherwise === 'deny' && !list.some(({ action }) => action === 'allow')) {
    throw new RuleFaultError('/list', 'needs a rule that allows events, because "otherwise" is "deny"')
  }
  return list.length === 0 ? undefined : { otherwise, list }
}

function readRule(written: JsonValue, path: string): ConnectionRule {
  const object = objectOf(written, path, ['action', 'types', 'events', 'conditions'])
  const action = choiceOf(object, 'action', path, RULE_ACTIONS)
  const { types, events, conditions } = object
  if (types === undefined && events === undefined && conditions === undefined) {
    throw new RuleFaultError(path, 'needs types, events or conditions; for all other events there is "otherwise"')
  }
  return {
    action,
    ...(types === undefined ? {} : { types: readTypes(types, `${path}/types`) }),
    ...(events === undefined ? {} : { events: readEvents(events, `${path}/events`) }),
    ...(conditions === undefined ? {} : { conditions: readConditions(conditions, `${path}/conditions`) }),
  }
}

function readTypes(written: JsonValue, path: string) {
  return listOf(written, path, 1, EVENT_TYPES.length).map((type, i) => oneOf(type, `${path}/${i}`, EVENT_TYPES))
}

function readEvents(written: JsonValue, path: string): RuleEvents {
  const object = objectOf(written, path, ['match', 'names'])
  const match = choiceOf(object, 'match', path, NAME_MATCHES, 'exact')
  const names = listOf(object['names'], `${path}/names`, 1, RULE_LIMITS.names).map((name, i) => {
    const at = `${path}/names/${i}`
    return match === 'pattern' ? patternOf(name, at) : textOf(name, at)
  })
  return { match, names }
}

function readConditions(written: JsonValue, path: string): RuleCondition[] {
  return listOf(written, path, 1, RULE_LIMITS.conditions).map((each, i) => readCondition(each, `${path}/${i}`))
}

function readCondition(written: JsonValue, at: string): RuleCondition {
  const object = objectOf(written, at, ['path', 'operator', 'value'])
  const path = readPath(object['path'], `${at}/path`)
  const operator: RuleOperator = choiceOf(object, 'operator', at, OPERATORS)
  const { value } = object
  const valueAt = `${at}/value`
  switch (operator) {
    case 'exists':
    case 'not_exists':
      if (value !== undefined) throw new RuleFaultError(valueAt, `is not for "${operator}"`)
      return { path, operator }
    case 'in':
    case 'not_in': {
      const values = listOf(value, valueAt, 1, RULE_LIMITS.values)
      return { path, operator, value: values.map((each, i) => scalarOf(each, `${valueAt}/${i}`)) }
    }
    case 'greater':
    case 'at_least':
    case 'less':
    case 'at_most':
      if (!isNumber(value)) throw new RuleFaultError(valueAt, 'must be a number')
      return { path, operator, value }
    case 'matches':
    case 'not_matches':
      return { path, operator, value: patternOf(value, valueAt) }
    default:
      return { path, operator, value: scalarOf(value, valueAt) }
  }
}

function readPath(written: JsonValue | undefined, path: string): string {
  const text = textOf(written, path, RULE_LIMITS.pathChars)
  const names = text.split('.')
  if (names.includes('')) throw new RuleFaultError(path, 'must be names joined by dots, such as properties.value')
  if (names.length > RULE_LIMITS.pathNames)
    throw new RuleFaultError(path, `must have at most ${RULE_LIMITS.pathNames} names`)
  return text
}

function scalarOf(written: JsonValue | undefined, path: string): RuleValue {
  if (isNumber(written) || typeof written === 'boolean') return written
  if (written === undefined || written === '') throw new RuleFaultError(path, 'is required')
  if (typeof written !== 'string') throw new RuleFaultError(path, 'must be a text, a number, true or false')
  return textOf(written, path)
}

/** JSON reads 1e999 as infinite, and stores that as null, which compares otherwise. */
function isNumber(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function patternOf(written: JsonValue | undefined, path: string): string {
  const text = textOf(written, path)
  const stars = text.split('*').length - 1
  if (stars > RULE_LIMITS.stars) throw new RuleFaultError(path, `must have at most ${RULE_LIMITS.stars} stars`)
  return text
}

function textOf(written: JsonValue | undefined, path: string, most: number = RULE_LIMITS.textChars): string {
  if (written === undefined || written === '') throw new RuleFaultError(path, 'is required')
  if (typeof written !== 'string' || written.trim() === '') throw new RuleFaultError(path, 'must be a text')
  if (written.length > most) throw new RuleFaultError(path, `must have at most ${most} characters`)
  return written
}

function listOf(written: JsonValue | undefined, path: string, least: number, most: number): readonly JsonValue[] {
  if (!Array.isArray(written)) throw new RuleFaultError(path, 'must be a list')
  if (written.length < least) throw new RuleFaultError(path, 'must not be empty')
  if (written.length > most) throw new RuleFaultError(path, `must have at most ${most} entries`)
  return written
}

function choiceOf<T extends string>(
  object: JsonObject,
  member: string,
  path: string,
  allowed: readonly T[],
  otherwise?: T,
): T {
  return oneOf(ownMember(object, member) ?? otherwise, `${path}/${member}`, allowed)
}

function oneOf<T extends string>(written: JsonValue | undefined, path: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === written)
  if (found === undefined) throw new RuleFaultError(path, `must be ${allowed.map((each) => `"${each}"`).join(' or ')}`)
  return found
}

function objectOf(written: JsonValue, path: string, known: readonly string[]): JsonObject {
  if (!isJsonObject(written)) throw new RuleFaultError(path, 'must be an object')
  const unknown = Object.keys(written).find((member) => !known.includes(member))
  if (unknown !== undefined) throw new RuleFaultError(memberPath(path, unknown), 'is not known')
  return written
}
