import { isJsonObject, type JsonObject, type Judgement, type StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { groupId, groupTraits, previousId, userId } from '../../event/event-facts.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches } from './batches.ts'
import { definition } from './definition.ts'
import { membership, uploadedEvents } from './uploaded-events.ts'

/**
 * Sends events by Amplitude's HTTP V2 API, properties of groups by its Group Identify API, and aliases by its User Mapping API.
 *
 * @see docs/destinations/amplitude.md
 */
export const destination: DestinationModule = { definition, transform, accepts, classify, batches }

function transform(event: StoredEvent, { config }: TransformContext): RequestObject[] {
  const { apiKey, region } = config
  if (typeof apiKey !== 'string' || apiKey === '') throw new Error('apiKey is missing')
  const host = hostOf(region)
  switch (event.type) {
    case 'alias':
      return [mapped(event, apiKey, host)]
    case 'group':
      return grouped(event, config, apiKey, host)
    default:
      return [upload(uploadedEvents(event, config), apiKey, host)]
  }
}

/** Without the Portfolio add-on Amplitude would refuse every alias. */
function accepts(messageType: string, { mapAlias }: JsonObject): boolean {
  return messageType !== 'alias' || mapAlias === true
}

/** The body has a status of its own, which goes first. A refused key is answered 400, as an invalid event is. */
function classify({ status, body }: { status: number; body: unknown }): Judgement | undefined {
  if (!isJsonObject(body)) return undefined
  const { code, error } = body
  if (status < 500 && String(error).startsWith('Invalid API key')) return 401
  if (status < 200 || status > 299) return undefined
  if (typeof code === 'number' && (code < 200 || code > 299)) return code === 429 || code >= 500 ? 'retry' : 'abort'
  return typeof error === 'string' && error !== '' ? 'abort' : undefined
}

function hostOf(region: unknown): string {
  switch (region) {
    case undefined:
    case null:
    case '':
    case 'US':
      return 'api2.amplitude.com'
    case 'EU':
      return 'api.eu.amplitude.com'
    default:
      throw new Error(`Unsupported region ${String(region)}`)
  }
}

function upload(events: JsonObject[], apiKey: string, host: string): RequestObject {
  const headers = { 'content-type': 'application/json' }
  // Ids are as long as the customer makes them; Amplitude would leave out those under five characters.
  const json = { api_key: apiKey, events, options: { min_id_length: 1 } }
  return requestObject({ method: 'POST', endpoint: `https://${host}/2/httpapi`, headers, body: { JSON: json } })
}

/** The properties of the group, then that the user belongs to it. */
function grouped(event: StoredEvent, config: JsonObject, apiKey: string, host: string): RequestObject[] {
  const { groupType } = config
  const type = typeof groupType === 'string' && groupType !== '' ? groupType : 'company'
  const group = { group_type: type, group_value: groupId(event), group_properties: groupTraits(event) }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = { api_key: apiKey, identification: JSON.stringify([group]) }
  const member = membership(event, config, { [type]: group.group_value })
  return [
    requestObject({ method: 'POST', endpoint: `https://${host}/groupidentify`, headers, body: { FORM: form } }),
    ...(member === undefined ? [] : [upload([member], apiKey, host)]),
  ]
}

/** In the United States user mapping has another host than events. */
function mapped(event: StoredEvent, apiKey: string, host: string): RequestObject {
  const user = userId(event)
  if (user === undefined) throw new Error('userId is missing')
  const mapping = JSON.stringify([{ user_id: previousId(event), global_user_id: user }])
  const mappingHost = host === 'api2.amplitude.com' ? 'api.amplitude.com' : host
  return requestObject({
    method: 'POST',
    endpoint: `https://${mappingHost}/usermap`,
    params: { mapping, api_key: apiKey },
  })
}
