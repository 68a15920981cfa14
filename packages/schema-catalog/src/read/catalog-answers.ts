import { formatTime } from '@millrace/protocol'
import type { CatalogLimits } from '../limits.ts'
import type { CatalogState } from '../observe/catalog-state.ts'
import { inByteOrder } from '../observe/flatten.ts'
import { maskedText } from '../observe/samples.ts'
import { keysAsMembers, parseKeys, type TypedKey } from '../observe/typed-keys.ts'
import { parseUnversionedKeys } from '../observe/unversioned.ts'
import type { CatalogDatabase, Row } from '../store/catalog-database.ts'
import type { CatalogCalls, ListPage, ListRequest, SourceChoice, SourceStatus } from '../thread/catalog-calls.ts'
import { jsonSchemaOf } from './json-schema.ts'
import { PageWriter } from './page-writer.ts'
import { MergedValues } from './written-values.ts'

/** The questions of the API. */
export type CatalogReads = Omit<
  CatalogCalls,
  'open' | 'configure' | 'follow' | 'wake' | 'commit' | 'rebuild' | 'purge' | 'close'
>

/**
 * The answers of the API, from the database as it is in its open transaction; whoever asks has had the counts written
 * there before.
 *
 * @see contracts/schema-catalog.md §6 to §10
 */
export class CatalogAnswers implements CatalogReads {
  readonly #database: CatalogDatabase
  readonly #state: CatalogState
  readonly #limits: CatalogLimits

  constructor(database: CatalogDatabase, state: CatalogState) {
    this.#database = database
    this.#state = state
    this.#limits = state.limits
  }

  models(request: Parameters<CatalogCalls['models']>[0]): ListPage {
    return this.#modelPage(request, MODEL_COLUMNS, (page, row) => {
      page.add(...modelJson(row, this.#writeKeyOf(row), request.hasExtras))
    })
  }

  jsonSchemas(request: Parameters<CatalogCalls['jsonSchemas']>[0]): ListPage {
    return this.#modelPage(request, '*', (page, row) => {
      const schema = jsonSchemaOf(row['type'], JSON.parse(row['identifier']), keysOf(row))
      if (schema !== undefined) page.add(schema)
    })
  }

  versions({ eventId, ...request }: Parameters<CatalogCalls['versions']>[0]): ListPage {
    const model = this.#model(eventId)
    if (model === undefined) return new PageWriter().finish(undefined)
    const [at, id] = request.after ?? [-1, -1]
    const rows = this.#database.iterate(
      `SELECT ${VERSION_COLUMNS} FROM versions WHERE model = ? AND (first_seen, id) > (?, ?)
       ORDER BY first_seen, id LIMIT ? OFFSET ?`,
      ...[model['id'], at, id, request.limit, offsetOf(request)],
    )
    const owner = model['event_id'] as string
    return pageOf(rows, 'first_seen', (page, row) => page.add(...versionJson(row, owner)))
  }

  modelMetadata(eventId: string): string | undefined {
    const model = this.#model(eventId)
    if (model === undefined) return undefined
    this.#state.writeValuesOf(model['id'])
    const source = this.#state.source(model['source'])
    const values = new MergedValues()
    if (source.hasValues) {
      for (const row of this.#database.iterate(`${VALUES} WHERE model = ?`, model['id'])) addVersion(values, row)
      const rest = this.#database.get('SELECT * FROM unversioned WHERE model = ?', model['id'])
      if (rest !== undefined) addUnversioned(values, rest)
    }
    return this.#metadata(source.samples, 2 * model['id'], model['total'], values)
  }

  versionMetadata(versionId: string): string | undefined {
    const version = this.#version(versionId)
    if (version === undefined) return undefined
    this.#state.writeValuesOf(version['model'])
    const source = this.#state.source(version['source'])
    const values = new MergedValues()
    if (source.hasValues) {
      const row = this.#database.get(`${VALUES} WHERE id = ?`, version['id'])
      if (row !== undefined) addVersion(values, row)
    }
    return this.#metadata(source.samples, 2 * version['id'] + 1, version['total'], values)
  }

  keyCounts(eventId: string): string | undefined {
    const model = this.#model(eventId)
    if (model === undefined) return undefined
    this.#state.writeValuesOf(model['id'])
    const counts = new Map<string, number>(keysOf(model).map(([path]) => [path, 0]))
    const count = (path: string, events: number) => counts.set(path, (counts.get(path) ?? 0) + events)
    for (const row of this.#database.iterate('SELECT keys, total FROM versions WHERE model = ?', model['id'])) {
      for (const [path, type] of keysOf(row)) if (type !== 'unknown') count(path, row['total'])
    }
    const rest = this.#database.get('SELECT keys FROM unversioned WHERE model = ?', model['id'])
    for (const each of rest === undefined ? [] : parseUnversionedKeys(rest['keys'])) count(each.path, each.count)
    const members = [...counts].filter(([, events]) => events > 0)
    return `{${members.map(([path, events]) => `${JSON.stringify(path)}:${events}`).join(',')}}`
  }

  missingKeys(versionId: string): string | undefined {
    const version = this.#version(versionId)
    if (version === undefined) return undefined
    const model = this.#database.get('SELECT keys FROM models WHERE id = ?', version['model'])!
    const present = new Set(keysOf(version).map(([path]) => path))
    const missing = keysOf(model).flatMap(([path]) => (present.has(path) ? [] : [path]))
    return JSON.stringify(inByteOrder(missing))
  }

  status(): readonly SourceStatus[] {
    return [...this.#state.sources()]
      .filter(({ modelCount, cut }) => modelCount > 0 || cut.models > 0)
      .map(({ writeKey, modelCount, cut }) => ({ writeKey, models: modelCount, cut: { ...cut } }))
  }

  #modelPage(
    request: ListRequest & { source: SourceChoice | undefined },
    columns: string,
    add: (page: PageWriter, row: Row) => void,
  ): ListPage {
    const { source, limit } = request
    const [at, id] = request.after ?? [-1, -1]
    const order = 'AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ? OFFSET ?'
    const place = [at, id, limit, offsetOf(request)]
    if (source === undefined) {
      const all = this.#database.iterate(`SELECT ${columns} FROM models WHERE true ${order}`, ...place)
      return pageOf(all, 'created_at', add)
    }
    const sourceId = 'id' in source ? source.id : this.#sourceByLastKey(source.lastKey)
    if (sourceId === undefined) return new PageWriter().finish(undefined)
    const rows = this.#database.iterate(`SELECT ${columns} FROM models WHERE source = ? ${order}`, sourceId, ...place)
    return pageOf(rows, 'created_at', add)
  }

  #metadata(samples: string, owner: number, total: number, values: MergedValues): string {
    const rows =
      samples === 'off' ? [] : this.#database.all(`SELECT * FROM (${SAMPLES}) ORDER BY id`, owner, this.#limits.samples)
    const isMasked = samples === 'masked'
    // A copy of the catalog may not have removed yet what its source no longer allows.
    const events = rows.map((row) => (isMasked && row['is_masked'] === 0 ? maskedText(row['event']) : row['event']))
    const frequent = values.json(this.#limits.frequentPer)
    return `{"SampledEvents":[${events.join(',')}],"TotalCount":${total},"FrequentValues":${frequent}}`
  }

  #model(eventId: string): Row | undefined {
    return this.#database.get('SELECT * FROM models WHERE event_id = ?', eventId.toLowerCase())
  }

  #version(versionId: string): Row | undefined {
    return this.#database.get(
      `SELECT versions.*, models.source FROM versions JOIN models ON models.id = versions.model WHERE version_id = ?`,
      versionId.toLowerCase(),
    )
  }

  #sourceByLastKey(writeKey: string): string | undefined {
    return this.#database.get('SELECT id FROM sources WHERE write_key = ?', writeKey)?.['id']
  }

  #writeKeyOf(row: Row): string {
    return this.#state.source(row['source']).writeKey
  }
}

// Keys go out as they are kept.
const MODEL_COLUMNS = `
  id, event_id, source, type, identifier, created_at, last_seen, total, unversioned, versions, cut_keys,
  CAST(keys AS BLOB) AS keys`
const VERSION_COLUMNS = 'id, version_id, first_seen, last_seen, total, CAST(keys AS BLOB) AS keys'

const SAMPLES = 'SELECT id, event, is_masked FROM samples WHERE owner = ? ORDER BY priority LIMIT ?'
const VALUES = `
  SELECT keys, valued, counters, texts FROM versions JOIN version_values ON version_values.version = versions.id`

function addVersion(values: MergedValues, row: Row): void {
  const { valued, counters, texts } = row
  values.add(
    keysOf(row).map(([path]) => path),
    () => valued,
    { counters, texts },
  )
}

function addUnversioned(values: MergedValues, { keys, counters, texts }: Row): void {
  const parsed = parseUnversionedKeys(keys)
  values.add(
    parsed.map(({ path }) => path),
    (key) => parsed[key]!.valued,
    { counters, texts },
  )
}

function offsetOf({ after, offset }: ListRequest): number {
  return after === undefined ? offset : 0
}

/** @param place the column of the time that the list is ordered by. */
function pageOf(rows: Iterable<Row>, place: string, add: (page: PageWriter, row: Row) => void): ListPage {
  const page = new PageWriter()
  for (const row of rows) {
    add(page, row)
    if (page.isFull) return page.finish([row[place], row['id']])
  }
  return page.finish(undefined)
}

type JsonParts = readonly (string | Uint8Array)[]

function modelJson(row: Row, writeKey: string, hasExtras: boolean): JsonParts {
  const fields = {
    ID: row['id'],
    EventID: row['event_id'],
    WriteKey: writeKey,
    EventType: row['type'],
    EventIdentifier: JSON.parse(row['identifier']),
    CreatedAt: microseconds(row['created_at']),
  }
  const extras = { VersionCount: row['versions'], UnversionedCount: row['unversioned'], CutKeys: row['cut_keys'] }
  const rest = {
    LastSeen: microseconds(row['last_seen']),
    TotalCount: row['total'],
    ...(hasExtras ? extras : {}),
  }
  return withSchema(fields, row, rest)
}

function versionJson(row: Row, eventId: string): JsonParts {
  const fields = { ID: row['id'], VersionID: row['version_id'], EventModelID: eventId }
  const rest = {
    FirstSeen: microseconds(row['first_seen']),
    LastSeen: microseconds(row['last_seen']),
    TotalCount: row['total'],
  }
  return withSchema(fields, row, rest)
}

/** The schema is written member by member: an object would put paths that look like numbers first. */
function withSchema(before: object, { keys }: Row, after: object): JsonParts {
  const head = `${JSON.stringify(before).slice(0, -1)},"Schema":{`
  return [head, keysAsMembers(keys), `},${JSON.stringify(after).slice(1)}`]
}

function keysOf(row: Row): TypedKey[] {
  return parseKeys(row['keys'])
}

/** RFC 3339 in UTC with six decimals. */
function microseconds(at: number): string {
  return `${formatTime(at).slice(0, -1)}000Z`
}
