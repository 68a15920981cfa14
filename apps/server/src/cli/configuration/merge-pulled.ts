import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'
import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { CommandError, type CommandIo } from '../command-io.ts'
import { type ConfigFile, parseConfigFile } from './config-file.ts'
import { escaped, standsFor } from './placeholders.ts'

type Environment = CommandIo['env']

const HEADING = ` Configuration of Millrace, see docs/configuration-as-code.md.
 A secret reads "********", which keeps the saved one; to set it, write \${NAME}, an environment variable.`

/** The text of a new file for a document of the server. */
export function newFileText(pulled: JsonObject): string {
  // Other YAML parsers may read `on` and `yes` as booleans, as in YAML 1.1.
  const yaml = new Document(undefined, { compat: 'yaml-1.1' })
  yaml.contents = nodeOf(yaml, pulled)
  yaml.commentBefore = HEADING
  return yaml.toString({ lineWidth: 0 })
}

/**
 * Updates the text of a file to the server's document. Comments, order and placeholders stay where they still apply; a
 * file that already matches stays identical to the byte.
 *
 * @throws CommandError if the file shares parts through anchors that no longer match.
 */
export function mergedFileText(file: ConfigFile, pulled: JsonObject, env: Environment): string {
  if (says(file.document, pulled, env)) return file.text
  // A copy: the caller's document stays as read.
  const { yaml } = parseConfigFile(file.name, file.text)
  const unfit = () =>
    new CommandError(
      `${file.name} has anchors (&) and aliases (*) that no longer match the server.`,
      'Pull into another file with --file and compare, or replace the aliases.',
    )
  yaml.contents = merged(yaml, yaml.contents, pulled, env) as typeof yaml.contents
  let text: string
  try {
    text = yaml.toString({ lineWidth: 0, ...styleOf(file.text) })
  } catch {
    throw unfit()
  }
  if (!says(parseConfigFile(file.name, text).document, pulled, env)) throw unfit()
  return text
}

/** Whether a file's document matches the server's; the order of members and connections does not matter. */
function says(written: JsonValue, pulled: JsonValue, env: Environment): boolean {
  if (typeof written === 'string' && typeof pulled === 'string') return standsFor(written, pulled, env)
  if (Array.isArray(written) && Array.isArray(pulled)) {
    const ordered = inOrderOf(pulled, written.map(identityOf))
    return written.length === pulled.length && ordered.every((item, i) => says(written[i]!, item, env))
  }
  if (isJsonObject(written) && isJsonObject(pulled)) {
    const names = Object.keys(pulled)
    return (
      names.length === Object.keys(written).length &&
      names.every((name) => Object.hasOwn(written, name) && says(written[name]!, pulled[name]!, env))
    )
  }
  return written === pulled
}

/** A node for the server's value, built from the existing node where possible. */
function merged(yaml: Document, node: unknown, pulled: JsonValue, env: Environment): Node {
  if (isAlias(node)) {
    const target = node.resolve(yaml)?.toJS(yaml) as JsonValue | undefined
    if (target !== undefined && says(target, pulled, env)) return node
  } else if (isMap(node) && isJsonObject(pulled) && node.items.length > 0) {
    return mergedMap(yaml, node, pulled, env)
  } else if (isSeq(node) && Array.isArray(pulled) && node.items.length > 0) {
    return mergedList(yaml, node, pulled, env)
  } else if (isScalar(node) && !(typeof pulled === 'object' && pulled !== null)) {
    if (says(node.value as JsonValue, pulled, env)) return node
    const scalar = nodeOf(yaml, pulled) as Scalar
    // A text without quotes that gets several lines would not be read again as it was.
    if (typeof pulled === 'string' && node.type && node.type !== Scalar.PLAIN) scalar.type ??= node.type
    return withCommentsOf(node, scalar)
  }
  return withCommentsOf(node, nodeOf(yaml, pulled))
}

function mergedMap(yaml: Document, map: YAMLMap, pulled: JsonObject, env: Environment): YAMLMap {
  const known = new Set<string>()
  map.items = map.items.filter((pair: Pair) => {
    const name = String(isScalar(pair.key) ? pair.key.value : pair.key)
    const value = ownMember(pulled, name)
    if (value === undefined) return false
    known.add(name)
    pair.value = merged(yaml, pair.value, value, env)
    return true
  })
  for (const [name, value] of Object.entries(pulled)) {
    if (!known.has(name)) map.items.push(yaml.createPair(name, nodeOf(yaml, value)))
  }
  return map
}

/** Items of a list correspond by their name; without one, by their place. */
function mergedList(yaml: Document, list: YAMLSeq, pulled: readonly JsonValue[], env: Environment): YAMLSeq {
  const nodes = list.items as unknown[]
  const identities = nodes.map((node) => identityOf(isNode(node) ? (node.toJS(yaml) as JsonValue) : null))
  const unused = new Map<string, unknown[]>()
  for (const [i, identity] of identities.entries()) {
    if (identity !== undefined) unused.set(identity, [...(unused.get(identity) ?? []), nodes[i]])
  }
  list.items = inOrderOf(pulled, identities).map((item, i) => {
    const identity = identityOf(escaped(item))
    const sameNode = identity === undefined && identities[i] === undefined ? nodes[i] : undefined
    return merged(yaml, identity === undefined ? sameNode : unused.get(identity)?.shift(), item, env)
  })
  return list
}

/** The name of a list item: for a connection its ends, for a header its name. */
function identityOf(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined
  const { source, destination, from } = item
  if (typeof source === 'string' && typeof destination === 'string') return `${source}/${destination}`
  return typeof from === 'string' ? from.toLowerCase() : undefined
}

/** Connections keep the order of the file, new ones last; in any other list the order matters. */
function inOrderOf(pulled: readonly JsonValue[], identities: readonly (string | undefined)[]): readonly JsonValue[] {
  const isSet = pulled.every((item) => identityOf(item)?.includes('/') && !Object.hasOwn(item as JsonObject, 'from'))
  if (!isSet) return pulled
  const place = new Map(identities.map((identity, i) => [identity, i]))
  const placeOf = (item: JsonValue) => place.get(identityOf(escaped(item))) ?? identities.length
  return pulled.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** A new node for the server's value. */
function nodeOf(yaml: Document, pulled: JsonValue): Node {
  const node = yaml.createNode(escaped(pulled)) as Node
  visit(node, {
    Scalar: (_, scalar) => {
      // A block scalar easily loses leading and trailing blanks.
      const isDelicate = typeof scalar.value === 'string' && /\n/.test(scalar.value) && BLANK_ENDS.test(scalar.value)
      if (isDelicate) scalar.type = Scalar.QUOTE_DOUBLE
    },
  })
  return node
}

const BLANK_ENDS = /^\s|[^\S\n]\n|[^\S\n]$|\n\n$/

function withCommentsOf<T extends Node>(before: unknown, node: T): T {
  if (!isNode(before)) return node
  const { comment, commentBefore, spaceBefore } = before
  return Object.assign(node, { comment, commentBefore, spaceBefore })
}

/** Style of the file: its indentation, and blanks inside braces. */
function styleOf(text: string): { indent: number; flowCollectionPadding: boolean } {
  const [, step = '  '] = /^( {1,8})[a-z]/m.exec(text) ?? []
  return { indent: step.length, flowCollectionPadding: !/(?:^|[^$])\{[^\s}]/m.test(text) }
}
