import type { ConnectionRule, RuleCondition, RuleEvents, RuleOperator, RuleValue } from './connection-rules.ts'

/** How people read an operator. */
export const OPERATOR_TEXTS: Readonly<Record<RuleOperator, string>> = {
  equals: '=',
  not_equals: '≠',
  in: 'is one of',
  not_in: 'is none of',
  greater: '>',
  at_least: '≥',
  less: '<',
  at_most: '≤',
  contains: 'contains',
  not_contains: 'does not contain',
  matches: 'matches',
  not_matches: 'does not match',
  exists: 'exists',
  not_exists: 'does not exist',
}

/** A rule in one line, such as `deny track "Debug *" where properties.value ≥ 100`. */
export function ruleText({ action, types = [], events, conditions = [] }: ConnectionRule): string {
  const words = [action as string]
  if (types.length > 0) words.push(types.join(', '))
  if (events !== undefined) words.push(eventsText(events))
  if (conditions.length > 0) words.push(`where ${conditions.map(conditionText).join(' and ')}`)
  return words.join(' ')
}

function eventsText({ match, names }: RuleEvents): string {
  const quoted = names.map((name) => JSON.stringify(name)).join(', ')
  return match === 'prefix' ? `beginning with ${quoted}` : quoted
}

function conditionText(condition: RuleCondition): string {
  const { path, operator } = condition
  const value = 'value' in condition ? ` ${valueText(condition.value)}` : ''
  return `${path} ${OPERATOR_TEXTS[operator]}${value}`
}

function valueText(value: RuleValue | readonly RuleValue[]): string {
  return Array.isArray(value) ? value.map((each) => JSON.stringify(each)).join(', ') : JSON.stringify(value)
}
