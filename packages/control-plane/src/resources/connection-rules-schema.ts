import { closed, closedPartial, named, oneOf, type TSchema, Type } from '@millrace/openapi'
import {
  type ConnectionRules,
  EVENT_TYPES,
  type JsonValue,
  NAME_MATCHES,
  OPERATORS,
  RULE_ACTIONS,
  RULE_LIMITS,
  RuleFaultError,
  readRules,
} from '@millrace/protocol'
import { invalidConfig } from '../refusals.ts'

const { rules, names, conditions, values, textChars, pathChars } = RULE_LIMITS

const value = Type.Union([Type.String({ maxLength: textChars }), Type.Number(), Type.Boolean()])

const CONDITION = named(
  'RuleCondition',
  closed({
    path: Type.String({
      maxLength: pathChars,
      description: 'Names joined by dots, such as `properties.value` or `properties.items.0.sku`.',
    }),
    operator: oneOf(OPERATORS),
    value: Type.Optional(
      Type.Union([value, Type.Array(value, { minItems: 1, maxItems: values })], {
        description:
          'A list for `in` and `not_in`; a number for `greater`, `at_least`, `less` and `at_most`; a pattern for `matches` and `not_matches`; left out for `exists` and `not_exists`.',
      }),
    ),
  }),
)

const match = oneOf(NAME_MATCHES, { default: 'exact', description: 'In a pattern `*` stands for any text.' })
const otherwise = oneOf(RULE_ACTIONS, { default: 'allow', description: 'For events that no rule matches.' })
const eventNames = Type.Array(Type.String({ maxLength: textChars }), { minItems: 1, maxItems: names })

const rule = <E extends TSchema>(events: E) => ({
  action: oneOf(RULE_ACTIONS),
  types: Type.Optional(Type.Array(oneOf(EVENT_TYPES), { minItems: 1, maxItems: EVENT_TYPES.length })),
  events: Type.Optional(events),
  conditions: Type.Optional(
    Type.Array(CONDITION, { minItems: 1, maxItems: conditions, description: 'All of them must hold.' }),
  ),
})

const list = <R extends TSchema>(each: R) =>
  Type.Array(each, { maxItems: rules, description: 'The first rule that matches an event decides.' })

/** The OpenAPI document goes by these; `readRules` of @millrace/protocol judges what is written. */
export const CONNECTION_RULES = named(
  'ConnectionRules',
  closed({ otherwise, list: list(named('ConnectionRule', closed(rule(closed({ match, names: eventNames }))))) }),
)

export const CONNECTION_RULES_WRITTEN = closedPartial({
  otherwise,
  list: list(closed(rule(closed({ match: Type.Optional(match), names: eventNames })))),
})

/**
 * Rules as a client writes them, or those saved where the member is left out.
 *
 * @throws ApiError 422
 */
export function readConnectionRules(
  { rules }: { readonly rules?: JsonValue },
  otherwise: ConnectionRules | undefined,
): ConnectionRules | undefined {
  if (rules === undefined) return otherwise
  try {
    return readRules(rules)
  } catch (error) {
    if (error instanceof RuleFaultError) throw invalidConfig(`/rules${error.path}`, error.message)
    throw error
  }
}
