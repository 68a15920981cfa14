import type { TProperties, TSchema } from 'typebox'
import { Type } from './type.ts'

/** A schema that stands once among the components of the document, under this name. */
export function named<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, $id: name }
}

/** One of some texts. */
export function oneOf<const T extends string>(
  allowed: readonly T[],
  more: { readonly default?: NoInfer<T>; readonly description?: string } = {},
) {
  return Type.Unsafe<T>({ type: 'string', enum: [...allowed], ...more })
}

export const Id = Type.String({ pattern: '^[0-9A-Za-z]{27}$', description: 'Sorts by creation.' })

/** RFC 3339, UTC, milliseconds. */
export const Time = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  description: 'RFC 3339 in UTC with milliseconds.',
})

/** Members that a client may send back and the server ignores. */
export function readOnly<const T extends string>(members: readonly T[]) {
  const ignored = Type.Optional(Type.Unknown({ readOnly: true, description: 'Ignored in requests.' }))
  return Object.fromEntries(members.map((member) => [member, ignored])) as Record<T, typeof ignored>
}

/** An object that has no other members than these. */
export function closed<P extends TProperties>(properties: P, more: { readonly description?: string } = {}) {
  return Type.Object(properties, { additionalProperties: false, ...more })
}

/** The same, where every member may be left out. */
export function closedPartial<P extends TProperties>(properties: P, more: { readonly description?: string } = {}) {
  return Type.Partial(Type.Object(properties), { additionalProperties: false, ...more })
}

/** What a request may hold: a resource as it is written, alone or in its envelope `{"source": {…}}`. */
export function enveloped(name: string, schema: TSchema) {
  return Type.Union([schema, closed({ [name]: schema })], { description: `The envelope "${name}" may be left out.` })
}

/** Where a list goes on. @see contracts/control-plane.md §4 "list" */
export const Paging = named(
  'Paging',
  closed({
    total: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'null if it is not counted.' }),
    next: Type.String({ description: 'Path of the next page; empty on the last.' }),
  }),
)

/** The answer of a list: `{"sources": […], "paging": {…}}`. */
export function listOf(plural: string, item: TSchema) {
  return closed({ [plural]: Type.Array(item), paging: Paging })
}
