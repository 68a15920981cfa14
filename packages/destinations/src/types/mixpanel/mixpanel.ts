import { type AnswerClass, isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches } from './batches.ts'
import { definition } from './definition.ts'
import { alias, hasOriginalMerge, identification, merge } from './identity.ts'
import { importedEvent } from './imported-event.ts'
import { chargeUpdates, deletion, groupUpdates, userUpdates } from './profile.ts'

/**
 * Sends events to Mixpanel's import, and what is said of users and groups to their profiles.
 *
 * @see docs/destinations/mixpanel.md
 */
export const destination: DestinationModule = { definition, transform, accepts, classify, batches }

function transform(event: StoredEvent, { config, basicAuth }: TransformContext): RequestObject[] {
  const { projectToken: token, region } = config
  if (typeof token !== 'string' || token === '') throw new Error('projectToken is missing')
  const origin = `https://${hostOf(region)}`
  const imported = (record: JsonObject, userName: string) => {
    const request = posted(`${origin}/import`, [record])
    request.params['strict'] = 1
    request.headers['authorization'] = basicAuth(userName, '')
    return request
  }
  switch (event.type) {
    case 'identify': {
      const known = hasOriginalMerge(config) ? identification(event, token) : undefined
      const updated = posted(`${origin}/engage`, userUpdates(event, token, config))
      return known === undefined ? [updated] : [tracked(origin, known), updated]
    }
    case 'group':
      return [posted(`${origin}/groups`, groupUpdates(event, token, config))]
    case 'alias':
      if (config['aliasAs'] !== 'merge') return [tracked(origin, alias(event, token))]
      return [imported(merge(event, token), secretOf(config))]
    default: {
      const updates = chargeUpdates(event, token, config)
      if (isDeletion(event, config)) updates.push(deletion(event, token, config))
      const request = imported(importedEvent(event, config), token)
      return updates.length === 0 ? [request] : [request, posted(`${origin}/engage`, updates)]
    }
  }
}

/** The simplified merge knows no aliases. */
function accepts(messageType: string, config: JsonObject): boolean {
  return messageType !== 'alias' || hasOriginalMerge(config)
}

/**
 * Profiles are answered 200 with `0`, or with a status in the body, where nothing was taken. A strict import needs nothing:
 * its 400 names bad data.
 */
function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  if (status < 200 || status > 299) return undefined
  const isRefused = isJsonObject(body) ? body['status'] === 0 || hasText(body['error']) : body === 0
  return isRefused ? 'abort' : undefined
}

function hasText(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

function hostOf(region: unknown): string {
  switch (region) {
    case undefined:
    case null:
    case '':
    case 'US':
      return 'api.mixpanel.com'
    case 'EU':
      return 'api-eu.mixpanel.com'
    case 'IN':
      return 'api-in.mixpanel.com'
    default:
      throw new Error(`Unsupported region ${String(region)}`)
  }
}

function secretOf({ apiSecret }: JsonObject): string {
  if (typeof apiSecret === 'string' && apiSecret !== '') return apiSecret
  throw new Error('apiSecret is missing: Mixpanel merges users only with it')
}

function isDeletion(event: StoredEvent, { deletionEvent }: JsonObject): boolean {
  return event.type === 'track' && hasText(deletionEvent) && event['event'] === deletionEvent
}

function posted(endpoint: string, records: JsonObject[]): RequestObject {
  const headers = { 'content-type': 'application/json' }
  return requestObject({ method: 'POST', endpoint, headers, body: { JSON_ARRAY: { batch: JSON.stringify(records) } } })
}

/** Events that join ids go to the route for one event, as Mixpanel describes them. */
function tracked(origin: string, record: JsonObject): RequestObject {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = { FORM: { data: JSON.stringify(record) } }
  return requestObject({ method: 'POST', endpoint: `${origin}/track`, headers, body })
}
