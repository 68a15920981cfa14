import type { EventMetadata, EventModel, EventVersion } from '@millrace/api-types'
import { counted, grouped } from '@millrace/wording'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import { CommandError, type CommandIo } from '../command-io.ts'
import { columns, json, oneLine, paintFor, time } from '../paint.ts'
import { AnswerError, idInPath, ServerApi, type ServerOptions } from '../server-api.ts'
import { versionDiff } from './version-diff.ts'

interface Common extends ServerOptions {
  readonly json?: boolean
}

interface ModelsOptions extends Common {
  readonly writeKey?: string
  readonly limit?: string
}

const EVENT_ID = '87295528-1a53-4a1e-beea-6c8efcc64b7d'
const VERSION_ID = '541091d8-38ed-440a-89e6-f80af9b5f4bc'
const SHOWN_VALUES = 5
const MAX_NAME = 60
const MAX_PATH = 240

/** `millrace schema …`: the schemas of received events. */
export function addSchema(program: Command, { io }: CommandContext): void {
  const group = program.command('schema').description('schemas of the received events: models, versions, values')
  withExample(remote(group.command('models')), 'schema models')
    .description('list event models: the events of one source, type and name')
    .option('--write-key <key>', 'only of the source with this write key')
    .option('--limit <n>', 'number to show, 1 to 1,000 (default: all)')
    .action((options: ModelsOptions) => listModels(options, io))
  withExample(remote(group.command('versions <event-id>')), `schema versions ${EVENT_ID}`)
    .description('list the versions of a model: events with the same keys and types')
    .action((eventId: string, options: Common) => listVersions(eventId, options, io))
  withExample(remote(group.command('diff <event-id> <first> <second>')), `schema diff ${EVENT_ID} 31 34`)
    .description('compare two versions of a model, given by number or VersionID')
    .action((eventId: string, first: string, second: string, options: Common) =>
      diffVersions(eventId, [first, second], options, io),
    )
  withExample(remote(group.command('metadata <id>')), `schema metadata ${EVENT_ID}`)
    .description('show samples and frequent values of a model or version')
    .action((id: string, options: Common) => showMetadata(id, options, io))
  withExample(remote(group.command('missing <version-id>')), `schema missing ${VERSION_ID}`)
    .description('list the keys of the model that a version lacks')
    .action((versionId: string, options: Common) => listMissing(versionId, options, io))
  withExample(remote(group.command('rebuild')), 'schema rebuild')
    .description('rebuild a damaged catalog from the events in the log')
    .action((options: Common) => rebuild(options, io))
}

async function listModels({ writeKey, limit, ...options }: ModelsOptions, io: CommandIo): Promise<void> {
  const query = new URLSearchParams()
  if (writeKey !== undefined) query.set('WriteKey', writeKey)
  if (limit !== undefined) query.set('limit', limit)
  const models = await new ServerApi(options, io).get<readonly EventModel[]>(`/schemas/event-models?${query}`)
  if (options.json) return print(io, [json(models)])
  if (models.length === 0) return print(io, ['No events yet.'])
  table(io, [
    ['LAST SEEN (UTC)', 'EVENT ID', 'EVENT', 'EVENTS', 'KEYS', 'WRITE KEY'],
    ...models.map((each) => [
      seen(each.LastSeen),
      oneLine(each.EventID),
      title(each),
      grouped(each.TotalCount),
      grouped(Object.keys(each.Schema).length),
      oneLine(each.WriteKey),
    ]),
  ])
}

async function listVersions(eventId: string, options: Common, io: CommandIo): Promise<void> {
  const versions = await versionsOf(eventId, new ServerApi(options, io))
  if (options.json) return print(io, [json(versions)])
  table(io, [
    ['NUMBER', 'VERSION ID', 'FIRST SEEN (UTC)', 'LAST SEEN (UTC)', 'EVENTS', 'KEYS'],
    ...versions.map((each) => [
      String(each.ID),
      oneLine(each.VersionID),
      seen(each.FirstSeen),
      seen(each.LastSeen),
      grouped(each.TotalCount),
      grouped(Object.keys(each.Schema).length),
    ]),
  ])
}

async function diffVersions(
  eventId: string,
  names: readonly [string, string],
  options: Common,
  io: CommandIo,
): Promise<void> {
  const api = new ServerApi(options, io)
  const versions = await versionsOf(eventId, api)
  const [first, second] = names.map((name) => {
    const found = versions.find(({ ID, VersionID }) => name === String(ID) || name.toLowerCase() === VersionID)
    if (found !== undefined) return found
    const listing = api.commandLine('schema', 'versions', eventId)
    throw new CommandError(`${oneLine(eventId)} has no version ${oneLine(name)}.`, `List versions with: ${listing}`)
  })
  const changes = versionDiff(first!.Schema, second!.Schema)
  if (options.json) return print(io, [json(changes)])
  if (changes.length === 0) return print(io, ['Both have the same keys and types.'])
  const paint = paintFor(io.stdout, io.env)
  const colours = { added: 'green', removed: 'red', 'type changed': 'yellow' } as const
  const lines = columns(
    changes.map(({ path, change, from, to }) => [
      change,
      oneLine(path, MAX_PATH),
      change === 'type changed' ? `${from} → ${to}` : (to ?? from)!,
    ]),
  )
  print(
    io,
    lines.map((line, i) => paint(colours[changes[i]!.change], line)),
  )
}

async function showMetadata(id: string, options: Common, io: CommandIo): Promise<void> {
  const metadata = await metadataOf(id, new ServerApi(options, io))
  if (options.json) return print(io, [json(metadata)])
  const { SampledEvents, TotalCount, FrequentValues } = metadata
  const paint = paintFor(io.stdout, io.env)
  const keys = Object.entries(FrequentValues)
  const rows = keys.map(([path, values]) => {
    const shown = values
      .slice(0, SHOWN_VALUES)
      .map(({ Value, Frequency }) => `${oneLine(Value, 40)} (${grouped(Frequency)})`)
    const more = values.length > SHOWN_VALUES ? `, ${values.length - SHOWN_VALUES} more` : ''
    return [oneLine(path, MAX_NAME), `${shown.join(', ')}${more}`]
  })
  print(io, [
    paint('bold', counted(TotalCount, 'event')),
    '',
    keys.length === 0 ? 'No frequent values.' : 'Frequent values:',
    ...columns(rows).map((line) => `  ${line}`),
    '',
    SampledEvents.length === 0 ? 'No samples.' : 'Samples:',
    ...SampledEvents.map((event) => `  ${json(event, 0)}`),
  ])
}

async function listMissing(versionId: string, options: Common, io: CommandIo): Promise<void> {
  const path = `/schemas/event-version/${idInPath(versionId)}/missing-keys`
  const missing = await new ServerApi(options, io).get<readonly string[]>(path)
  if (options.json) return print(io, [json(missing)])
  print(io, missing.length === 0 ? ['It has all keys of its model.'] : missing.map((each) => oneLine(each, 1_100)))
}

async function rebuild(options: Common, io: CommandIo): Promise<void> {
  const answer = await new ServerApi(options, io).send('POST', '/v2/admin/rebuild-catalog')
  if (options.json) return print(io, [json(answer)])
  print(io, ['Rebuilding from the log; LagSeconds in GET /schemas/status shows the progress.'])
}

/** @throws CommandError if there are none: every model has one. */
async function versionsOf(eventId: string, api: ServerApi): Promise<readonly EventVersion[]> {
  const path = `/schemas/event-versions?EventID=${encodeURIComponent(eventId)}`
  const versions = await api.get<readonly EventVersion[]>(path)
  if (versions.length > 0) return versions
  const listing = api.commandLine('schema', 'models')
  throw new CommandError(`No versions of model "${oneLine(eventId)}" at ${api.url}.`, `List models with: ${listing}`)
}

/** Ids of models and versions never coincide, so one command accepts both. */
async function metadataOf(id: string, api: ServerApi): Promise<EventMetadata> {
  const encoded = idInPath(id)
  try {
    return await api.get(`/schemas/event-model/${encoded}/metadata`)
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status !== 404) throw error
    return api.get(`/schemas/event-version/${encoded}/metadata`)
  }
}

function title({ EventType, EventIdentifier }: EventModel): string {
  return oneLine(EventIdentifier === '' ? EventType : `${EventType} "${EventIdentifier}"`, MAX_NAME)
}

/** Without unneeded decimals. */
function seen(rfc3339: string): string {
  return time(rfc3339).slice(0, 19)
}

function table(io: CommandIo, rows: readonly (readonly string[])[]): void {
  const [head, ...lines] = columns(rows)
  print(io, [paintFor(io.stdout, io.env)('bold', head!), ...lines])
}

function print({ stdout }: CommandIo, lines: readonly string[]): void {
  stdout.write(`${lines.join('\n')}\n`)
}
