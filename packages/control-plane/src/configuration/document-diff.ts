import { isJsonObject, type JsonObject, type JsonValue, memberPath } from '@millrace/protocol'

/** A document, and the same document with `********` in place of secrets. */
export interface ShownDocument {
  readonly plain: JsonObject
  readonly shown: JsonObject
}

/** One difference. A side without the value is null. */
export interface DiffLine {
  /** JSON pointer. */
  readonly path: string
  readonly from: JsonValue
  readonly to: JsonValue
  /** A secret changed; `from` and `to` are both masks. */
  readonly secretChanged?: true
}

/** The mask of a secret. @see contracts/decisions.md [D6] */
export const MASK = '********'

/** A document without secrets. */
export function openDocument(document: JsonObject): ShownDocument {
  return { plain: document, shown: document }
}

/**
 * The differences of two documents, in the order of their members, without secrets.
 *
 * @see contracts/control-plane.md §9 [D716, D718], §10 [D719]
 */
export function documentDiff(before: ShownDocument, after: ShownDocument): DiffLine[] {
  return [...differences('', before, after)]
}

interface Side {
  readonly plain: JsonValue | undefined
  readonly shown: JsonValue | undefined
}

function* differences(path: string, before: Side, after: Side): Generator<DiffLine> {
  if (JSON.stringify(before.plain) === JSON.stringify(after.plain)) return
  const names = membersOfBoth(before.plain, after.plain)
  if (names === undefined) {
    yield lineOf(path, before, after)
    return
  }
  for (const name of names) {
    const member = memberPath(path, name)
    yield* differences(member, memberOf(before, name), memberOf(after, name))
  }
}

/** Undefined unless both are objects, or both are lists. */
function membersOfBoth(a: JsonValue | undefined, b: JsonValue | undefined): Iterable<string> | undefined {
  if (Array.isArray(a) && Array.isArray(b)) return Object.keys(a.length > b.length ? a : b)
  if (isJsonObject(a) && isJsonObject(b)) return new Set([...Object.keys(a), ...Object.keys(b)])
  return undefined
}

function memberOf({ plain, shown }: Side, name: string): Side {
  return { plain: valueAt(plain, name), shown: valueAt(shown, name) }
}

function valueAt(container: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof container !== 'object' || container === null || !Object.hasOwn(container, name)) return undefined
  return (container as JsonObject)[name]
}

function lineOf(path: string, before: Side, after: Side): DiffLine {
  const from = visible(before)
  const to = visible(after)
  const isSecret = from === MASK || to === MASK || JSON.stringify(from) === JSON.stringify(to)
  return isSecret ? { path, from, to, secretChanged: true } : { path, from, to }
}

/** A member that the masked document omits must not be shown. */
function visible({ plain, shown }: Side): JsonValue {
  return plain === undefined ? null : (shown ?? (plain === null ? null : MASK))
}
