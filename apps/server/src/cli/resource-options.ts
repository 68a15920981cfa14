import type { Destination, Source } from '@millrace/api-types'
import { CommandError } from './command-io.ts'
import { oneLine } from './paint.ts'
import type { ServerApi } from './server-api.ts'

type Kind = 'source' | 'destination'

const MAX_SHOWN = 20

/** The resource with this id, key or name. @throws CommandError that lists the keys */
export async function findResource<T extends Source | Destination>(
  api: ServerApi,
  kind: Kind,
  wanted: string,
): Promise<T> {
  return findIn(await listOf<T>(api, kind), api, kind, wanted)
}

/** @returns the ids; of removed resources too, whose events can still be shown. @throws CommandError */
export async function resourceIds(api: ServerApi, kind: Kind, wanted: readonly string[]): Promise<string[]> {
  const isId = (text: string) => /^[0-9A-Za-z]{27}$/.test(text)
  const all = wanted.every(isId) ? [] : await listOf(api, kind)
  return wanted.map((text) => (isId(text) ? text : findIn(all, api, kind, text).id))
}

/** As `resourceIds`, of one. */
export async function resourceId(api: ServerApi, kind: Kind, wanted: string): Promise<string> {
  return (await resourceIds(api, kind, [wanted]))[0]!
}

/** The options of a command with ids in place of keys and names. */
export async function withIds<T extends { readonly source?: string; readonly destination?: string }>(
  api: ServerApi,
  options: T,
): Promise<T> {
  const { source, destination } = options
  return {
    ...options,
    ...(source === undefined ? {} : { source: await resourceId(api, 'source', source) }),
    ...(destination === undefined ? {} : { destination: await resourceId(api, 'destination', destination) }),
  }
}

function listOf<T extends Source | Destination>(api: ServerApi, kind: Kind): Promise<T[]> {
  return api.all<T>(`/v2/${kind}s`, `${kind}s`)
}

function findIn<T extends Source | Destination>(all: readonly T[], api: ServerApi, kind: Kind, wanted: string): T {
  const found = all.find(({ id }) => id === wanted) ?? all.find(({ key }) => key === wanted)
  if (found !== undefined) return found
  const [only, ...others] = all.filter(({ name }) => name === wanted)
  if (others.length > 0) {
    throw new CommandError(`${others.length + 1} ${kind}s are named "${oneLine(wanted)}".`, 'Use its key or id.')
  }
  if (only === undefined) throw new CommandError(`No ${kind} "${oneLine(wanted)}" at ${api.url}.`, keysOf(all, kind))
  return only
}

function keysOf(all: readonly { readonly key: string }[], kind: Kind): string {
  const keys = all.slice(0, MAX_SHOWN).map(({ key }) => oneLine(key))
  return keys.length === 0 ? `There are no ${kind}s yet.` : `Known ${kind}s: ${keys.join(', ')}.`
}
