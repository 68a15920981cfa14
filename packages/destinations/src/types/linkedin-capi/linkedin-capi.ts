import { isJsonObject, type JsonObject, type JsonValue, type Judgement, type StoredEvent } from '@millrace/protocol'
import { apiVersion, versionEnded } from '../../config/api-version.ts'
import { requiredText } from '../../config/config-text.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { eventTime } from '../../event/event-facts.ts'
import { templateOf } from '../../messages/event-templates.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches, elementOutcome, elementStatuses } from './batches.ts'
import { conversionEvent } from './conversion-event.ts'
import { API_VERSION, definition } from './definition.ts'

/**
 * Streams conversions to LinkedIn, each to the conversion rule that the configuration names for it.
 *
 * @see docs/destinations/linkedin-capi.md
 */
export const destination: DestinationModule = { definition, transform, wants, refusal, classify, batches }

const MAX_AGE_MS = 90 * 24 * 60 * 60 * 1_000

/** Always as a list of elements: then one event is answered like many. */
function transform(event: StoredEvent, { config, bearer }: TransformContext): RequestObject[] {
  const authorization = bearer(requiredText(config, 'accessToken'))
  const conversionId = conversionOf(event, config)
  if (conversionId === undefined) return []
  const headers = {
    'content-type': 'application/json',
    'linkedin-version': apiVersion(config, API_VERSION),
    'x-restli-protocol-version': '2.0.0',
    'x-restli-method': 'BATCH_CREATE',
    authorization,
  }
  const elements = [conversionEvent(event, conversionId)]
  const endpoint = 'https://api.linkedin.com/rest/conversionEvents'
  return [requestObject({ method: 'POST', endpoint, headers, body: { JSON: { elements } } })]
}

function wants(event: StoredEvent, config: JsonObject): boolean {
  return conversionOf(event, config) !== undefined
}

function refusal(event: StoredEvent, _: JsonObject, nowMs: number): string | undefined {
  const time = eventTime(event)
  if (time === undefined || nowMs - time <= MAX_AGE_MS) return undefined
  return `LinkedIn rejects events older than 90 days: this one is from ${new Date(time).toISOString()}`
}

/** Each element of a list has a status of its own, also where there is one. An ended version of the API is answered 426. */
function classify({ status, body }: { status: number; body: unknown }): Judgement | undefined {
  if (status === 426) return versionEnded('LinkedIn')
  if (status < 200 || status > 299 || !isJsonObject(body)) return undefined
  const failed = elementStatuses(body).find((each) => each >= 400)
  if (failed === undefined) return undefined
  return elementOutcome(failed)
}

function conversionOf(event: StoredEvent, { conversions }: JsonObject): string | undefined {
  const entry = templateOf(event, Array.isArray(conversions) ? conversions : [])
  return idText(entry?.['conversionId'])
}

function idText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
