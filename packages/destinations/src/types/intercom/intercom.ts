import { isJsonObject, type JsonObject, type Judgement, type StoredEvent } from '@millrace/protocol'
import { apiVersion, versionEnded } from '../../config/api-version.ts'
import { requiredText } from '../../config/config-text.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { API_VERSION, definition } from './definition.ts'
import { companyOf, dataEvent, memberOf, userOf } from './records.ts'

/**
 * Keeps users and companies of Intercom up to date, and submits data events.
 *
 * @see docs/destinations/intercom.md
 */
export const destination: DestinationModule = { definition, transform, testConnection, classify }

/** Only versions 1 create or update a user by its own id in one request; version 2 wants Intercom's id for an update [D531]. */
const USERS_VERSION = '1.1'

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const version = apiVersion(context.config, API_VERSION)
  switch (event.type) {
    case 'identify':
      return [posted('/users', USERS_VERSION, userOf(event), context)]
    case 'group': {
      const company = posted('/companies', version, companyOf(event), context)
      const member = memberOf(event)
      // A company is visible in Intercom once it has a user.
      return member === undefined ? [company] : [company, posted('/users', USERS_VERSION, member, context)]
    }
    default:
      return [posted('/events', version, dataEvent(event), context)]
  }
}

/** Reads whose token it is. */
function testConnection(context: TransformContext): RequestObject {
  return requestObject({
    method: 'GET',
    endpoint: `${originOf(context)}/me`,
    headers: headersOf(apiVersion(context.config, API_VERSION), context),
  })
}

function classify({ status, body }: { status: number; body: unknown }): Judgement | undefined {
  const errors = status === 400 && isJsonObject(body) ? body['errors'] : undefined
  const isOfVersion = (error: unknown) => isJsonObject(error) && error['code'] === 'intercom_version_invalid'
  return Array.isArray(errors) && errors.some(isOfVersion) ? versionEnded('Intercom') : undefined
}

function posted(path: string, version: string, record: JsonObject, context: TransformContext): RequestObject {
  const headers = { 'content-type': 'application/json', ...headersOf(version, context) }
  return requestObject({ method: 'POST', endpoint: `${originOf(context)}${path}`, headers, body: { JSON: record } })
}

function headersOf(version: string, { config, bearer }: TransformContext): JsonObject {
  const authorization = bearer(requiredText(config, 'accessToken'))
  return { accept: 'application/json', 'intercom-version': version, authorization }
}

function originOf({ config: { region } }: TransformContext): string {
  switch (region) {
    case undefined:
    case null:
    case '':
    case 'US':
      return 'https://api.intercom.io'
    case 'EU':
      return 'https://api.eu.intercom.io'
    case 'AU':
      return 'https://api.au.intercom.io'
    default:
      throw new Error(`Unsupported region ${String(region)}`)
  }
}
