import { readFileSync } from 'node:fs'
import { isJsonObject, type JsonObject } from '@millrace/protocol'
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { CommandError } from '../command-io.ts'
import { commandLine } from '../command-line.ts'
import { oneLine } from '../paint.ts'

/** A document in a file, with the places of its members. */
export interface ConfigFile {
  readonly name: string
  readonly text: string
  /** Content of the file, with placeholders. */
  readonly document: JsonObject
  /** The same with comments. */
  readonly yaml: Document
  /** Place of a member, or of the nearest ancestor in the file: `millrace.yaml:12:7`. @param path JSON pointer */
  place(path: string): string
}

const MAX_SHOWN_ERRORS = 100

/**
 * @param printed a command to print, for the server in question.
 * @throws CommandError if it cannot be read, or is not one YAML object.
 */
export function readConfigFile(name: string, printed = (...words: string[]) => commandLine(words)): ConfigFile {
  const file = readConfigFileIfAny(name)
  if (file !== undefined) return file
  throw new CommandError(
    `${name} does not exist or is empty.`,
    `Write it from the server with: ${printed('pull', '--file', name)}`,
  )
}

/** @returns undefined if the file is missing or empty. */
export function readConfigFileIfAny(name: string): ConfigFile | undefined {
  const text = readText(name)
  return text === undefined || text.trim() === '' ? undefined : parseConfigFile(name, text)
}

export function parseConfigFile(name: string, text: string): ConfigFile {
  const lines = new LineCounter()
  // An error with an excerpt of the file could reveal a secret in it.
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const faults = [...yaml.errors, ...yaml.warnings].slice(0, MAX_SHOWN_ERRORS)
  if (faults.length > 0) {
    const shown = faults.map(({ pos, message }) => `${placeAt(pos[0])} ${oneLine(message)}`)
    throw new CommandError(`${name} is not valid YAML:`, shown.join('\n'))
  }
  return {
    name,
    text,
    document: objectOf(name, yaml),
    yaml,
    place: (path) => {
      const offset = offsetOf(yaml, path)
      return offset === undefined ? name : placeAt(offset)
    },
  }
}

function readText(name: string): string | undefined {
  try {
    return readFileSync(name, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CommandError(`${name} cannot be read: ${(error as Error).message}.`)
  }
}

function objectOf(name: string, yaml: Document): JsonObject {
  let value: unknown
  try {
    value = yaml.toJS()
    if (isCircular(value)) throw new Error('An alias stands within its own anchor')
  } catch (error) {
    // Aliases without an anchor, or aliases that would expand beyond the memory.
    throw new CommandError(`${name} cannot be read: ${oneLine((error as Error).message)}.`)
  }
  if (isJsonObject(value)) return value
  throw new CommandError(`${name} must hold an object: "millrace: 1", "sources", "destinations", "connections".`)
}

function isCircular(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return false
  } catch {
    return true
  }
}

/** Place of the last member of a path that exists in the file. */
function offsetOf(yaml: Document, path: string): number | undefined {
  let node: unknown = yaml.contents
  let offset: number | undefined
  for (const part of path.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (isAlias(node)) node = node.resolve(yaml)
    let found: Node | undefined
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? key.value : key) === name)
      found = isNode(pair?.key) ? pair.key : undefined
      node = pair?.value
    } else if (isSeq(node)) {
      node = node.items[Number(name)]
      found = isNode(node) ? node : undefined
    }
    if (found === undefined) return offset
    offset = found.range?.[0] ?? offset
  }
  return offset
}
