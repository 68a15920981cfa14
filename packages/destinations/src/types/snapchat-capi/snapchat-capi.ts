import { type AnswerClass, isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { configText, requiredText } from '../../config/config-text.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { contextObject, duplicateId, eventTime, present } from '../../event/event-facts.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches } from './batches.ts'
import { customData } from './custom-data.ts'
import { definition } from './definition.ts'
import { snapchatName } from './event-name.ts'
import { userData } from './user-data.ts'

/**
 * Sends conversions of websites and shops to a pixel of Snapchat, by version 3 of its Conversions API.
 *
 * @see docs/destinations/snapchat-capi.md
 */
export const destination: DestinationModule = {
  definition,
  transform,
  testConnection,
  wants,
  refusal,
  classify,
  batches,
}

const MAX_AGE_MS = 37 * 24 * 60 * 60 * 1_000

function transform(event: StoredEvent, { config }: TransformContext): RequestObject[] {
  const params = { access_token: requiredText(config, 'accessToken') }
  const name = snapchatName(event, config)
  if (name === undefined) return []
  return [
    requestObject({
      method: 'POST',
      endpoint: `${pixelAddress(config)}/events`,
      headers: { 'content-type': 'application/json' },
      params,
      body: { JSON: { data: [conversion(event, name, config)] } },
    }),
  ]
}

/** Snapchat knows a fixed set of names. */
function wants(event: StoredEvent, config: JsonObject): boolean {
  return snapchatName(event, config) !== undefined
}

/** Reads how many events arrived in the last hour. */
function testConnection({ config }: TransformContext): RequestObject {
  return requestObject({
    method: 'GET',
    endpoint: `${pixelAddress(config)}/events/validate/stats`,
    params: { access_token: requiredText(config, 'accessToken') },
  })
}

/** An older event is not reported. */
function refusal(event: StoredEvent, _: JsonObject, nowMs: number): string | undefined {
  const time = eventTime(event)
  if (time === undefined || nowMs - time <= MAX_AGE_MS) return undefined
  return `Snapchat reports no events older than 37 days: this one is from ${new Date(time).toISOString()}`
}

function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  const isRefused = status >= 200 && status <= 299 && isJsonObject(body) && body['status'] === 'INVALID'
  return isRefused ? 'abort' : undefined
}

function conversion(event: StoredEvent, name: string, config: JsonObject): JsonObject {
  const time = eventTime(event)
  if (time === undefined) throw new Error('timestamp is missing')
  const custom = customData(event)
  return {
    event_name: name,
    event_time: Math.floor(time / 1_000),
    action_source: configText(config, 'actionSource') ?? 'WEB',
    ...present({ event_id: duplicateId(event), event_source_url: contextObject(event, 'page')['url'] }),
    user_data: userData(event),
    ...(Object.keys(custom).length === 0 ? {} : { custom_data: custom }),
  }
}

function pixelAddress(config: JsonObject): string {
  return `https://tr.snapchat.com/v3/${encodeURIComponent(requiredText(config, 'pixelId'))}`
}
