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
  const all = await api.all<T>(`/v2/${kind}s`, `${kind}s`)
  const named = all.filter(({ name }) => name === wanted)
  const found = all.find(({ id }) => id === wanted) ?? all.find(({ key }) => key === wanted)
  if (found === undefined && named.length > 1) {
    throw new CommandError(`${named.length} ${kind}s are named "${oneLine(wanted)}".`, 'Use its key or id.')
  }
  if (found !== undefined || named[0] !== undefined) return found ?? named[0]!
  throw new CommandError(`No ${kind} "${oneLine(wanted)}" at ${api.url}.`, keysOf(all, kind))
}

/** @returns the id; of a removed resource too, whose events can still be shown. @throws CommandError */
export async function resourceId(api: ServerApi, kind: Kind, wanted: string): Promise<string> {
  return /^[0-9A-Za-z]{27}$/.test(wanted) ? wanted : (await findResource(api, kind, wanted)).id
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

function keysOf(all: readonly { readonly key: string }[], kind: Kind): string {
  const keys = all.slice(0, MAX_SHOWN).map(({ key }) => oneLine(key))
  return keys.length === 0 ? `There are no ${kind}s yet.` : `There are: ${keys.join(', ')}.`
}
