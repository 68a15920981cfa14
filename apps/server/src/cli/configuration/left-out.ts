import type { ConfigurationPlan } from '@millrace/api-types'
import { isJsonObject, type JsonObject, type JsonValue, memberPath, ownMember } from '@millrace/protocol'

/**
 * The server's document without members that a file omits although they apply: defaults, and write keys. A plan of the
 * file would not change these members.
 */
export function withoutLeftOut(
  pulled: JsonObject,
  written: JsonObject,
  { changes, errors }: Pick<ConfigurationPlan, 'changes' | 'errors'>,
): JsonObject {
  const shortened = (kind: string, key: string, path: string, resource: JsonValue, member: JsonValue | undefined) => {
    const isUnclear = errors.some((error) => error.path === path || error.path.startsWith(`${path}/`))
    if (!isJsonObject(resource) || !isJsonObject(member) || isUnclear) return resource
    const change = changes.find((each) => each.kind === kind && each.key === key)
    const paths = change?.diff.map((line) => line.path) ?? []
    return withoutUnchanged(resource, member, '', paths)
  }
  const section = (name: string, kind: string) => {
    const [all, own] = [pulled[name], ownMember(written, name)]
    if (!isJsonObject(all) || !isJsonObject(own)) return {}
    const entries = Object.entries(all).map(([key, resource]) => {
      return [key, shortened(kind, key, `/${name}/${key}`, resource, ownMember(own, key))]
    })
    return { [name]: Object.fromEntries(entries) as JsonObject }
  }
  const connections = () => {
    const [all, own] = [pulled['connections'], ownMember(written, 'connections')]
    if (!Array.isArray(all) || !Array.isArray(own)) return {}
    const places = new Map(own.map((member, i) => [endsOf(member), i]))
    const list = all.map((connection) => {
      const ends = endsOf(connection)
      const place = places.get(ends) ?? -1
      return shortened('connection', ends, `/connections/${place}`, connection, own[place])
    })
    return { connections: list }
  }
  return {
    ...pulled,
    ...section('sources', 'source'),
    ...section('libraries', 'library'),
    ...section('transformations', 'transformation'),
    ...section('destinations', 'destination'),
    ...connections(),
  }
}

/** Members that the server omits if they have these values. */
const UNSHOWN: readonly (readonly [member: string, standard: JsonValue])[] = [
  ['description', ''],
  ['captureLogs', false],
  ['published', true],
  ['tests', []],
  ['transformations', []],
  ['consent', null],
]
const CODE_SECTIONS = ['libraries', 'transformations']

/** The server's document, plus members that the server omits, if the file has them with the same value. */
export function withStated(pulled: JsonObject, written: JsonObject): JsonObject {
  const stated = { ...pulled }
  for (const section of CODE_SECTIONS) {
    const own = ownMember(written, section)
    if (pulled[section] === undefined && isJsonObject(own) && Object.keys(own).length === 0) stated[section] = own
  }
  for (const section of [...CODE_SECTIONS, 'destinations']) {
    const [all, own] = [stated[section], ownMember(written, section)]
    if (!isJsonObject(all) || !isJsonObject(own)) continue
    const entries = Object.entries(all).map(([key, entry]): [string, JsonValue] => {
      const ownEntry = ownMember(own, key)
      if (!isJsonObject(entry) || !isJsonObject(ownEntry)) return [key, entry]
      return [key, withMembers(entry, ownEntry, UNSHOWN)]
    })
    stated[section] = Object.fromEntries(entries)
  }
  const [all, own] = [stated['connections'], ownMember(written, 'connections')]
  if (!Array.isArray(all) || !Array.isArray(own)) return stated
  const byEnds = new Map(own.map((each) => [endsOf(each), each]))
  const connections = all.map((each) => {
    const ownEach = byEnds.get(endsOf(each))
    return isJsonObject(each) && isJsonObject(ownEach) ? withMembers(each, ownEach, [['rules', null]]) : each
  })
  return { ...stated, connections }
}

function withMembers(shown: JsonObject, own: JsonObject, unshown: typeof UNSHOWN): JsonObject {
  const more = unshown.filter(
    ([member, standard]) =>
      shown[member] === undefined && JSON.stringify(ownMember(own, member)) === JSON.stringify(standard),
  )
  return { ...shown, ...Object.fromEntries(more) }
}

function withoutUnchanged(
  pulled: JsonObject,
  written: JsonObject,
  path: string,
  changed: readonly string[],
): JsonObject {
  const entries = Object.entries(pulled).flatMap(([name, value]): [string, JsonValue][] => {
    const member = memberPath(path, name)
    const own = ownMember(written, name)
    if (own === undefined && !changed.some((each) => isWithin(each, member) || isWithin(member, each))) return []
    if (!isJsonObject(value) || !(own === undefined || isJsonObject(own))) return [[name, value]]
    return [[name, withoutUnchanged(value, own ?? {}, member, changed)]]
  })
  return Object.fromEntries(entries)
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`)
}

/** The name of a connection in a plan. */
function endsOf(connection: JsonValue): string {
  return isJsonObject(connection) ? `${connection['source']}/${connection['destination']}` : ''
}
