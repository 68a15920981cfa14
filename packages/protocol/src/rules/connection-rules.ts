import type { EventType } from '../event.ts'

/**
 * Which events a connection lets through. The first rule that matches an event decides; `otherwise` decides where none does.
 *
 * @see docs/filtering-events.md; contracts/control-plane.md §7 [D737]
 */
export interface ConnectionRules {
  readonly otherwise: RuleAction
  readonly list: readonly ConnectionRule[]
}

export const RULE_ACTIONS = ['allow', 'deny'] as const
export type RuleAction = (typeof RULE_ACTIONS)[number]

/** Matches an event for which every member that is there holds. */
export interface ConnectionRule {
  readonly action: RuleAction
  readonly types?: readonly EventType[]
  readonly events?: RuleEvents
  readonly conditions?: readonly RuleCondition[]
}

export const NAME_MATCHES = ['exact', 'prefix', 'pattern'] as const

/** Holds for events with one of the names, or with a name that begins with one or fits a pattern (`name-pattern.ts`). */
export interface RuleEvents {
  readonly match: (typeof NAME_MATCHES)[number]
  readonly names: readonly string[]
}

/** What a condition compares with. */
export type RuleValue = string | number | boolean

/** `path`: names joined by dots, from the event on; digits name an element of a list. A null counts as absent. */
export type RuleCondition =
  | { readonly path: string; readonly operator: 'exists' | 'not_exists' }
  | {
      readonly path: string
      readonly operator: 'equals' | 'not_equals' | 'contains' | 'not_contains'
      readonly value: RuleValue
    }
  | { readonly path: string; readonly operator: 'in' | 'not_in'; readonly value: readonly RuleValue[] }
  | { readonly path: string; readonly operator: 'greater' | 'at_least' | 'less' | 'at_most'; readonly value: number }
  | { readonly path: string; readonly operator: 'matches' | 'not_matches'; readonly value: string }

export const OPERATORS = [
  'equals',
  'not_equals',
  'in',
  'not_in',
  'greater',
  'at_least',
  'less',
  'at_most',
  'contains',
  'not_contains',
  'matches',
  'not_matches',
  'exists',
  'not_exists',
] as const satisfies readonly RuleCondition['operator'][]
export type RuleOperator = RuleCondition['operator']

/** Bounds of what a connection may have; with them an event takes at most some microseconds per rule. */
export const RULE_LIMITS = {
  rules: 20,
  names: 50,
  conditions: 10,
  values: 100,
  textChars: 200,
  pathChars: 200,
  pathNames: 10,
  stars: 10,
} as const

/** Why rules leave an event out: the number of the rule, from 1 on. */
export type RuleReason = `connection rule ${number}` | 'no connection rule'
