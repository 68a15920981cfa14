import { type AnswerClass, formatTime, type JsonObject, ownMember, type StoredEvent } from '@millrace/protocol'
import { configNames } from '../../config/config-names.ts'
import { configText, requiredText } from '../../config/config-text.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import {
  eventProperties,
  eventTime,
  groupId,
  groupTraits,
  present,
  trackName,
  userId,
  userTraits,
} from '../../event/event-facts.ts'
import { personOf } from '../../event/person.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { definition } from './definition.ts'

/**
 * Keeps users and organizations of Zendesk up to date, and adds events to the timelines of users.
 *
 * @see docs/destinations/zendesk.md
 */
export const destination: DestinationModule = { definition, transform, testConnection, accepts, classify }

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  switch (event.type) {
    case 'identify':
      return [posted('/api/v2/users/create_or_update', { user: userOf(event, context.config) }, context)]
    case 'group': {
      const organization = organizationOf(event, context.config)
      return [posted('/api/v2/organizations/create_or_update', { organization }, context)]
    }
    default:
      return [posted('/api/v2/user_profiles/events', timelineEvent(event, context.config), context)]
  }
}

/** Timelines of events are a part of the Suite plans. */
function accepts(messageType: string, config: JsonObject): boolean {
  return messageType !== 'track' || configText(config, 'eventSource') !== undefined
}

/** Reads whose token it is. */
function testConnection(context: TransformContext): RequestObject {
  return requestObject({
    method: 'GET',
    endpoint: `${originOf(context)}/api/v2/users/me`,
    headers: { authorization: authorization(context) },
  })
}

/** Zendesk answers 409 while another request changes the same user. */
function classify({ status }: { status: number }): AnswerClass | undefined {
  return status === 409 ? 'retry' : undefined
}

/** Without the verification mail, which Zendesk would send to each new user. */
function userOf(event: StoredEvent, config: JsonObject): JsonObject {
  const traits = userTraits(event)
  const { email, phone, firstName, lastName } = personOf(event)
  const id = userId(event)
  if (id === undefined && email === undefined) throw new Error('userId or traits.email is missing')
  const fullName = [firstName, lastName].filter((name) => name !== undefined).join(' ')
  const name = [traits['name'], fullName, email, id].find((each) => typeof each === 'string' && each.trim() !== '')
  const user: JsonObject = { ...present({ external_id: id, email, name, phone }), skip_verify_email: true }
  const fields = fieldsOf(traits, config, 'userFields')
  return fields === undefined ? user : { ...user, user_fields: fields }
}

function organizationOf(event: StoredEvent, config: JsonObject): JsonObject {
  const traits = groupTraits(event)
  const id = groupId(event)
  const { name } = traits
  const organization: JsonObject = { external_id: id, name: typeof name === 'string' && name.trim() !== '' ? name : id }
  const fields = fieldsOf(traits, config, 'organizationFields')
  return fields === undefined ? organization : { ...organization, organization_fields: fields }
}

function timelineEvent(event: StoredEvent, config: JsonObject): JsonObject {
  const source = requiredText(config, 'eventSource')
  const id = userId(event)
  const { email } = personOf(event)
  const identifiers = [
    ...(email === undefined ? [] : [{ type: 'email', value: email }]),
    ...(id === undefined ? [] : [{ type: 'external_id', value: id }]),
  ]
  if (identifiers.length === 0) throw new Error('userId or traits.email is missing')
  const time = eventTime(event)
  return {
    profile: { source, type: 'customer', identifiers },
    event: {
      source,
      type: trackName(event),
      properties: eventProperties(event),
      ...(time === undefined ? {} : { created_at: formatTime(time) }),
    },
  }
}

/** The configured traits that the event has. */
function fieldsOf(traits: JsonObject, config: JsonObject, variable: string): JsonObject | undefined {
  const named = configNames(config[variable]).map((name) => [name, ownMember(traits, name)] as const)
  const fields = present(Object.fromEntries(named))
  return Object.keys(fields).length === 0 ? undefined : fields
}

function posted(path: string, json: JsonObject, context: TransformContext): RequestObject {
  const headers = { 'content-type': 'application/json', authorization: authorization(context) }
  return requestObject({ method: 'POST', endpoint: `${originOf(context)}${path}`, headers, body: { JSON: json } })
}

function authorization({ config, basicAuth }: TransformContext): string {
  return basicAuth(`${requiredText(config, 'email')}/token`, requiredText(config, 'apiToken'))
}

function originOf({ config }: TransformContext): string {
  const subdomain = requiredText(config, 'subdomain')
  if (!/^[A-Za-z0-9-]+$/.test(subdomain)) throw new Error(`Invalid subdomain ${subdomain}`)
  return `https://${subdomain}.zendesk.com`
}
