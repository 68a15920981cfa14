import { isJsonObject, type JsonObject, ownMember, type StoredEvent } from '@millrace/protocol'
import type { EventMetadata } from '../../definition.ts'

/** Scheme, user, host and port; then the path; then the query. A fragment is not sent. */
const ADDRESS = /^([a-z][a-z0-9+.-]*:\/\/[^/?#\\]*)([^?#]*)(?:\?([^#]*))?/i
const DISPLAY_NAME = 'Webhook'

/** How an event's `integrations` changes the path of its request at one destination. */
export interface PathChange {
  readonly fullPath: string | undefined
  readonly appendPath: string | undefined
}

/**
 * The change that the event asks for at this destination, by its id, its name or the name of its type; undefined for none.
 *
 * @see contracts/destinations.md §5 [D533], delivery.md §5 [D612]
 */
export function pathChange(event: StoredEvent, metadata: EventMetadata): PathChange | undefined {
  const integrations = event['integrations']
  if (!isJsonObject(integrations)) return undefined
  for (const key of [metadata.destinationId, metadata.destinationName, DISPLAY_NAME]) {
    const options = ownMember(integrations, key)
    if (options !== undefined) return isJsonObject(options) ? changeOf(options) : undefined
  }
  return undefined
}

function changeOf(options: JsonObject): PathChange | undefined {
  const fullPath = textOf(options['fullPath'])
  const appendPath = textOf(options['appendPath'])
  return fullPath === undefined && appendPath === undefined ? undefined : { fullPath, appendPath }
}

/**
 * The configured address with another path. `fullPath` replaces path and query; `appendPath` goes behind the path, and its
 * query behind the query. Scheme, user, host and port stay, whatever the texts are.
 *
 * @throws Error if `fullPath` looks like another address.
 */
export function withPath(webhookUrl: string, { fullPath, appendPath }: PathChange): string {
  const [, origin, path = '', query] = ADDRESS.exec(webhookUrl) ?? []
  if (origin === undefined) return webhookUrl
  if (fullPath !== undefined && /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(fullPath)) {
    throw new Error('integrations fullPath must be a path: it cannot change the host')
  }
  const base = fullPath === undefined ? { path, query } : partsOf(fullPath)
  const added = partsOf(appendPath ?? '')
  const joined = base.path + added.path
  const queries = [base.query, added.query].filter((each) => each !== undefined && each !== '')
  return origin + (joined.startsWith('/') ? '' : '/') + joined + (queries.length === 0 ? '' : `?${queries.join('&')}`)
}

/** The address without its user, password and query, which may be secret. */
export function withoutSecretParts(webhookUrl: string): string {
  const [, origin, path] = ADDRESS.exec(webhookUrl) ?? []
  return origin === undefined ? webhookUrl : origin.replace(/(?<=:\/\/).*@/, '') + path
}

function partsOf(text: string): { path: string; query: string | undefined } {
  const [beforeFragment = ''] = text.split('#', 1)
  const at = beforeFragment.indexOf('?')
  if (at === -1) return { path: beforeFragment, query: undefined }
  return { path: beforeFragment.slice(0, at), query: beforeFragment.slice(at + 1) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
