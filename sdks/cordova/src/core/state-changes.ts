import type { StateChanges } from './bridge.ts'

/** Makes the changes: null removes a key. */
export function applyChanges(values: Record<string, string>, changes: StateChanges): void {
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete values[key]
    else values[key] = value
  }
}

/** Those of these members that are there. */
export function picked<Values extends object, Key extends keyof Values>(
  values: Values,
  keys: readonly Key[],
): Pick<Values, Key> {
  const some = {} as Pick<Values, Key>
  for (const key of keys) if (values[key] !== undefined) some[key] = values[key]
  return some
}
