import type { Type as TypeBox } from 'typebox'

const OPTIONAL = Symbol('optional')

type Options = object | undefined
type Members = Readonly<Record<string, object>>

const object = (properties: Members, options: Options) => {
  const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name]!, OPTIONAL))
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options }
}
const optional = (schema: object) => ({ ...schema, [OPTIONAL]: true })

/**
 * The builders of TypeBox that we use, with its types. They are our own because loading those of TypeBox takes 160 ms of
 * every start and 21 MB for as long as the server runs, and what we build is plain JSON Schema.
 */
export const Type = {
  Array: (items: object, options: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options: Options) => ({ type: 'boolean', ...options }),
  Integer: (options: Options) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options: Options) => ({ const: value, ...options }),
  Null: (options: Options) => ({ type: 'null', ...options }),
  Number: (options: Options) => ({ type: 'number', ...options }),
  Object: object,
  Optional: optional,
  Partial: ({ properties, required: _, ...schema }: { properties: Members; required?: string[] }, options: Options) => {
    const members = Object.entries(properties).map(([name, member]) => [name, optional(member)])
    return { ...schema, properties: Object.fromEntries(members), ...options }
  },
  Record: (_key: object, value: object, options: Options) => ({
    type: 'object',
    additionalProperties: value,
    ...options,
  }),
  String: (options: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly object[], options: Options) => ({ anyOf, ...options }),
  Unknown: (options: Options) => ({ ...options }),
  Unsafe: (schema: object) => schema,
} as unknown as Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>
