import type { JsonObject, Judgement, StoredEvent } from '@millrace/protocol'
import { apiVersion, versionEnded } from '../../config/api-version.ts'
import { requiredText } from '../../config/config-text.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches, EVENT, EVENT_JOB, eventEntry, eventJob, PROFILE_JOB, profileJob } from './bulk.ts'
import { API_VERSION, definition } from './definition.ts'
import { klaviyoEvents } from './events.ts'
import { eventProfile, importedProfile } from './profile.ts'

const MEDIA_TYPE = 'application/vnd.api+json'

/**
 * Sends profiles and events to Klaviyo.
 *
 * @see docs/destinations/klaviyo.md
 */
export const destination: DestinationModule = { definition, transform, testConnection, classify, batches }

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const { config } = context
  if (event.type === 'identify') {
    const profile = importedProfile(event, config)
    if (config['bulkProfiles'] === true) return [posted(PROFILE_JOB, profileJob([profile]), context)]
    return [posted('/api/profile-import', { data: profile }, context)]
  }
  const profile = eventProfile(event, config)
  const events = klaviyoEvents(event, config)
  if (events.length > 1) return [posted(EVENT_JOB, eventJob([eventEntry(profile, events)]), context)]
  const attributes = { ...events[0]!, profile: { data: profile } }
  return [posted(EVENT, { data: { type: 'event', attributes } }, context)]
}

function testConnection(context: TransformContext): RequestObject {
  return requestObject({ method: 'GET', endpoint: 'https://a.klaviyo.com/api/accounts', headers: headersOf(context) })
}

/** Klaviyo answers 410 where it no longer has the revision. */
function classify({ status }: { status: number }): Judgement | undefined {
  return status === 410 ? versionEnded('Klaviyo') : undefined
}

function posted(route: string, json: JsonObject, context: TransformContext): RequestObject {
  const headers = { ...headersOf(context), 'content-type': MEDIA_TYPE }
  return requestObject({ method: 'POST', endpoint: `https://a.klaviyo.com${route}`, headers, body: { JSON: json } })
}

function headersOf({ config, secret }: TransformContext): JsonObject {
  const authorization = secret(`Klaviyo-API-Key ${requiredText(config, 'apiKey')}`)
  return { authorization, accept: MEDIA_TYPE, revision: apiVersion(config, API_VERSION) }
}
