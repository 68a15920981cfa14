import { type AnswerClass, isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { requiredText } from '../../config/config-text.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { anonymousId } from '../../event/event-facts.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { BATCH, batches, ENTITY } from './batches.ts'
import { definition } from './definition.ts'
import { deviceOperation } from './device-operation.ts'
import { objectOperation } from './object-operations.ts'
import { activity, anonymousActivity, identification, identifiersOf, merge } from './person-operations.ts'

/**
 * Sends people, their events and objects by Customer.io's Track API v2, and events of unknown people by its v1.
 *
 * @see docs/destinations/customerio.md
 */
export const destination: DestinationModule = { definition, transform, testConnection, wants, classify, batches }

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const { config } = context
  const person = identifiersOf(event, config)
  switch (event.type) {
    case 'identify':
      return person === undefined ? [] : [operated([identification(event, person, config)], context)]
    case 'group':
      return [operated([objectOperation(event, person, config)], context)]
    case 'alias':
      return [operated([merge(event)], context)]
    default: {
      if (person === undefined) return [posted('/api/v1/events', anonymousEvent(event), context)]
      const device = config['devices'] === true ? deviceOperation(event, person) : undefined
      return [operated([...(device === undefined ? [] : [device]), activity(event, person)], context)]
    }
  }
}

/** Customer.io has no anonymous people: an identify call without a user has no one to update. */
function wants(event: StoredEvent, config: JsonObject): boolean {
  return event.type !== 'identify' || identifiersOf(event, config) !== undefined
}

/** Says which region the account is in; it needs the credentials of the other routes. */
function testConnection(context: TransformContext): RequestObject {
  const endpoint = `${originOf(context.config)}/api/v1/accounts/region`
  return requestObject({ method: 'GET', endpoint, headers: { authorization: authorizationOf(context) } })
}

/** A 207 says that an operation was not taken. */
function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  const errors = isJsonObject(body) ? body['errors'] : undefined
  return status === 207 && Array.isArray(errors) && errors.length > 0 ? 'abort' : undefined
}

/** @throws Error without an id: Customer.io could never give the event to a person. */
function anonymousEvent(event: StoredEvent): JsonObject {
  const anonymous = anonymousId(event)
  if (anonymous === undefined) throw new Error('userId or anonymousId is missing')
  return anonymousActivity(event, anonymous)
}

function operated(operations: JsonObject[], context: TransformContext): RequestObject {
  const [first] = operations
  return operations.length === 1 ? posted(ENTITY, first!, context) : posted(BATCH, { batch: operations }, context)
}

function posted(route: string, json: JsonObject, context: TransformContext): RequestObject {
  const headers = { authorization: authorizationOf(context), 'content-type': 'application/json' }
  return requestObject({
    method: 'POST',
    endpoint: `${originOf(context.config)}${route}`,
    headers,
    body: { JSON: json },
  })
}

function authorizationOf({ config, basicAuth }: TransformContext): string {
  return basicAuth(requiredText(config, 'siteId'), requiredText(config, 'apiKey'))
}

function originOf({ region }: JsonObject): string {
  switch (region) {
    case undefined:
    case null:
    case '':
    case 'US':
      return 'https://track.customer.io'
    case 'EU':
      return 'https://track-eu.customer.io'
    default:
      throw new Error(`Unsupported region ${String(region)}`)
  }
}
