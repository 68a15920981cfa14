import type { ConnectionRules } from '@millrace/api-types'
import type { RuleOperator, RuleValue } from '@millrace/protocol/connection-rules'

/** A rule while somebody writes it: every part is there, and what is empty will not be saved. */
export interface RuleDraft {
  /** Tells rules apart while they move. */
  readonly key: number
  readonly action: 'allow' | 'deny'
  readonly types: readonly string[]
  readonly match: 'exact' | 'prefix' | 'pattern'
  readonly names: readonly string[]
  readonly conditions: readonly ConditionDraft[]
}

export interface ConditionDraft {
  readonly key: number
  readonly path: string
  readonly operator: RuleOperator
  /** As people write values; see `valueOfText`. One, unless the operator takes a list. */
  readonly values: readonly string[]
}

export interface RulesDraft {
  readonly otherwise: 'allow' | 'deny'
  readonly list: readonly RuleDraft[]
}

type Rule = ConnectionRules['list'][number]
type Condition = NonNullable<Rule['conditions']>[number]

const NUMBER_OPERATORS: readonly RuleOperator[] = ['greater', 'at_least', 'less', 'at_most']
const PATTERN_OPERATORS: readonly RuleOperator[] = ['matches', 'not_matches']

/** How many values an operator takes. */
export function valueKind(operator: RuleOperator): 'none' | 'one' | 'many' {
  if (operator === 'exists' || operator === 'not_exists') return 'none'
  return operator === 'in' || operator === 'not_in' ? 'many' : 'one'
}

let keys = 0
/** A new one for each rule and condition. */
export function newKey(): number {
  return ++keys
}

/** @param before the draft that it replaces: rules and conditions at the same place keep their keys, and the focus. */
export function draftOf(rules: ConnectionRules | null, before?: RulesDraft): RulesDraft {
  const list = (rules?.list ?? []).map((rule, at) => ruleDraft(rule, before?.list[at]))
  return { otherwise: rules?.otherwise ?? 'allow', list }
}

function ruleDraft({ action, types = [], events, conditions = [] }: Rule, before: RuleDraft | undefined): RuleDraft {
  return {
    key: before?.key ?? newKey(),
    action,
    types,
    match: events?.match ?? 'exact',
    names: events?.names ?? [],
    conditions: conditions.map(({ path, operator, value }, at) => ({
      key: before?.conditions[at]?.key ?? newKey(),
      path,
      operator,
      values: textsOf(value, operator),
    })),
  }
}

/** As it is saved; null where every event goes. */
export function rulesOf({ otherwise, list }: RulesDraft): ConnectionRules | null {
  if (list.length === 0 && otherwise === 'allow') return null
  return { otherwise, list: list.map(ruleOf) }
}

function ruleOf({ action, types, match, names, conditions }: RuleDraft): Rule {
  return {
    action,
    ...(types.length === 0 ? {} : { types: types as NonNullable<Rule['types']> }),
    ...(names.length === 0 ? {} : { events: { match, names } }),
    ...(conditions.length === 0 ? {} : { conditions: conditions.map(conditionOf) }),
  }
}

function conditionOf({ path, operator, values }: ConditionDraft): Condition {
  const kind = valueKind(operator)
  if (kind === 'none') return { path, operator }
  // A pattern is a text, whatever it looks like.
  const read = PATTERN_OPERATORS.includes(operator) ? (text: string) => text : valueOfText
  return { path, operator, value: kind === 'many' ? values.map(read) : read(values[0] ?? '') }
}

/**
 * `100`, `true` and `false` are what they look like; a text that looks like one of these stands in quotes, as in JSON. All
 * else is a text as it is.
 */
export function valueOfText(text: string): RuleValue {
  const trimmed = text.trim()
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true'
  if (/^-?\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed)
  return quotedText(trimmed) ?? text
}

/** The inverse of `valueOfText`. */
export function textOfValue(value: RuleValue): string {
  if (typeof value !== 'string') return String(value)
  return valueOfText(value) === value ? value : JSON.stringify(value)
}

function textsOf(value: Condition['value'], operator: RuleOperator): string[] {
  if (value === undefined) return []
  const values = Array.isArray(value) ? value : [value as RuleValue]
  return values.map((each) => (PATTERN_OPERATORS.includes(operator) ? String(each) : textOfValue(each)))
}

function quotedText(text: string): string | undefined {
  if (!text.startsWith('"') || !text.endsWith('"')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** What stands in the field of an operator's value. */
export function valueHint(operator: RuleOperator): string {
  if (NUMBER_OPERATORS.includes(operator)) return '100'
  return PATTERN_OPERATORS.includes(operator) ? 'Seat *' : 'Value'
}
