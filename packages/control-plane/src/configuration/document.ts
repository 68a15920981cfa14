import type { JsonObject } from '@millrace/protocol'
import { type Connection, rulesJson } from '../resources/connection.ts'
import { consentJson } from '../resources/consent-schema.ts'
import { type Destination, destinationJson } from '../resources/destination.ts'
import { type Source, sourceJson } from '../resources/source.ts'
import type { CodeVersion } from '../transformations/code.ts'
import type { Library } from '../transformations/library.ts'
import { type Transformation, testsJson } from '../transformations/transformation.ts'
import type { Snapshot } from '../workspace/snapshot.ts'

/** Version of the document format that this program reads and writes. */
export const DOCUMENT_FORM = 1

/**
 * The whole configuration as a document: every resource under its key with its writable members, without values of this
 * server such as ids and times. Ordered by key: two servers with the same configuration return the same text.
 *
 * @param maskedConfig config of a destination with masked secrets.
 * @see contracts/control-plane.md §9 [D716]
 */
export function configurationDocument(
  snapshot: Snapshot,
  maskedConfig: (destination: Destination) => JsonObject,
): JsonObject {
  const sources = byKey(snapshot.sources.values()).map((source) => [source.key, sourceDocument(source)])
  const libraries = byKey(snapshot.libraries.values()).map((library) => [library.key, libraryDocument(library)])
  const transformations = byKey(snapshot.transformations.values()).map((transformation) => [
    transformation.key,
    transformationDocument(transformation),
  ])
  const keyOf = (id: string) => snapshot.transformations.get(id)!.key
  const destinations = byKey(snapshot.destinations.values()).map((destination) => [
    destination.key,
    destinationDocument(destination, maskedConfig(destination), keyOf),
  ])
  const connections = Array.from(snapshot.connections.values(), (connection) => ({
    source: snapshot.sources.get(connection.sourceId)!.key,
    destination: snapshot.destinations.get(connection.destinationId)!.key,
    ...connectionDocument(connection),
  }))
  return {
    millrace: DOCUMENT_FORM,
    sources: Object.fromEntries(sources),
    // Omitted if unused.
    ...(libraries.length === 0 ? {} : { libraries: Object.fromEntries(libraries) }),
    ...(transformations.length === 0 ? {} : { transformations: Object.fromEntries(transformations) }),
    destinations: Object.fromEntries(destinations),
    connections: connections.sort(
      (a, b) => compareTexts(a.source, b.source) || compareTexts(a.destination, b.destination),
    ),
  }
}

/** A source in the form of the document. */
export function sourceDocument(source: Source): JsonObject {
  const { name, type, enabled, writeKey, config } = sourceJson(source)
  return { name: name!, type: type!, enabled: enabled!, writeKey: writeKey!, config: config! }
}

/**
 * A destination in the form of the document.
 *
 * @param config masked if people may read the document.
 * @param keyOf key of a transformation by its id.
 */
export function destinationDocument(
  destination: Destination,
  config: JsonObject,
  keyOf: (id: string) => string,
): JsonObject {
  const { name, type, enabled, delivery } = destinationJson(destination, config)
  const transformations = destination.transformationIds.map(keyOf)
  return {
    name: name!,
    type: type!,
    enabled: enabled!,
    ...(transformations.length === 0 ? {} : { transformations }),
    config,
    delivery: delivery!,
    ...consentJson(destination.consent),
  }
}

/** What of a connection can change, as it stands in the document. */
export function connectionDocument({ isEnabled, rules }: Pick<Connection, 'isEnabled' | 'rules'>): JsonObject {
  return { enabled: isEnabled, ...rulesJson({ rules }) }
}

/** A library in the form of the document: its published version, or the draft if it was never published. */
export function libraryDocument({ name, description, newest, published }: Library): JsonObject {
  return { name, ...describedAs(description), ...codeDocument(newest, published) }
}

/** A transformation in the form of the document, in the same way. */
export function transformationDocument(transformation: Transformation): JsonObject {
  const { name, description, captureLogs, newest, published, tests } = transformation
  return {
    name,
    ...describedAs(description),
    ...codeDocument(newest, published),
    ...(captureLogs ? { captureLogs } : {}),
    ...(tests.length === 0 ? {} : { tests: testsJson(tests) }),
  }
}

function describedAs(description: string): JsonObject {
  return description === '' ? {} : { description }
}

function codeDocument(newest: CodeVersion, published: Pick<CodeVersion, 'language' | 'code'> | null): JsonObject {
  const { language, code } = published ?? newest
  return { language, code, ...(published === null ? { published: false } : {}) }
}

/** The name of a connection, which has no key: `cinema-app/booking-hook`. */
export function connectionKey(source: string, destination: string): string {
  return `${source}/${destination}`
}

function byKey<T extends { readonly key: string }>(resources: Iterable<T>): T[] {
  return Array.from(resources).sort((a, b) => compareTexts(a.key, b.key))
}

/** By code units, independent of the machine's locale. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
