import { randomBytes } from 'node:crypto'
import { resourceId } from '../../packages/protocol/src/index.ts'

/** A destination type that is about to be made. */
export interface NewType {
  /** Name of the folder, such as `cinema-crm`. */
  readonly folder: string
  readonly displayName: string
  readonly category: string
  readonly now: Date
}

/** Folder of the types and folder of their guides, in a checkout. */
export const TYPES_FOLDER = 'packages/destinations/src/types'
export const GUIDES_FOLDER = 'docs/destinations'

/** Files of the type by their path in a checkout. They work as they are, and are written to be changed. */
export function filesOf(type: NewType): Record<string, string> {
  const { folder } = type
  return {
    [`${TYPES_FOLDER}/${folder}/definition.ts`]: definitionFile(type),
    [`${TYPES_FOLDER}/${folder}/${folder}.ts`]: codeFile(type),
    [`${TYPES_FOLDER}/${folder}/${folder}.cases.ts`]: casesFile(type),
    [`${GUIDES_FOLDER}/${folder}.md`]: guideFile(type),
  }
}

/** As the definition has it: `CINEMA_CRM`. */
export function typeName(folder: string): string {
  return folder.toUpperCase().replaceAll('-', '_')
}

function definitionFile({ folder, displayName, category, now }: NewType): string {
  const time = `${now.toISOString().slice(0, 10)}T08:00:00.000Z`
  return `import { cloudDefinition } from '../../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '${resourceId(now.getTime(), randomBytes(14))}',
  name: '${typeName(folder)}',
  displayName: '${displayName}',
  category: '${category}',
  variables: ['apiKey'],
  secretKeys: ['apiKey'],
  messageTypes: ['identify', 'track'],
  configSchema: {
    type: 'object',
    required: ['apiKey'],
    properties: { apiKey: { type: 'string', minLength: 1 } },
  },
  uiConfig: { fields: [{ key: 'apiKey', label: 'API key', help: 'In the settings of ${displayName}.' }] },
  createdAt: '${time}',
  updatedAt: '${time}',
})
`
}

function codeFile({ folder, displayName }: NewType): string {
  return `import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { duplicateId, eventProperties, eventTime, present, trackName, userId, userTraits } from '../../event/event-facts.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { definition } from './definition.ts'

/**
 * Sends users and events to ${displayName}.
 *
 * @see ${GUIDES_FOLDER}/${folder}.md
 */
export const destination: DestinationModule = { definition, transform }

function transform(event: StoredEvent, { config, bearer }: TransformContext): RequestObject[] {
  const { apiKey } = config
  if (typeof apiKey !== 'string' || apiKey === '') throw new Error('apiKey is missing')
  const isUser = event.type === 'identify'
  return [
    requestObject({
      method: 'POST',
      endpoint: \`https://api.${folder}.example/v1/\${isUser ? 'users' : 'events'}\`,
      headers: { 'content-type': 'application/json', authorization: bearer(apiKey) },
      body: { JSON: isUser ? userOf(event) : eventOf(event) },
    }),
  ]
}

function userOf(event: StoredEvent): JsonObject {
  return { id: knownUser(event), attributes: userTraits(event) }
}

function eventOf(event: StoredEvent): JsonObject {
  return {
    name: trackName(event),
    user_id: knownUser(event),
    ...present({ id: duplicateId(event), time: eventTime(event) }),
    properties: eventProperties(event),
  }
}

function knownUser(event: StoredEvent): string {
  const id = userId(event)
  if (id === undefined) throw new Error('userId is missing')
  return id
}
`
}

function casesFile({ folder }: NewType): string {
  return `import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const config = { apiKey: 'x7Hq2exampleOnlyKey' }

function sent(path: string, json: JsonObject) {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer x7Hq2exampleOnlyKey' }
  const endpoint = \`https://api.${folder}.example\${path}\`
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { JSON: json } })] }
}

export const cases: DestinationCase[] = [
  {
    name: 'An identify updates the user',
    documented: true,
    config,
    event: { type: 'identify', userId: 'u-4711', traits: { email: 'ada@mail.example', plan: 'gold' } },
    expected: sent('/v1/users', { id: 'u-4711', attributes: { email: 'ada@mail.example', plan: 'gold' } }),
  },
  {
    name: 'A track sends an event',
    documented: true,
    config,
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      messageId: 'm-88',
      timestamp: '2026-03-04T09:15:31.900Z',
      properties: { row: 7 },
    },
    expected: sent('/v1/events', {
      name: 'Seat Reserved',
      user_id: 'u-4711',
      id: 'm-88',
      time: 1_772_615_731_900,
      properties: { row: 7 },
    }),
  },
  {
    name: 'An anonymous user is refused',
    documented: true,
    config,
    event: { type: 'track', event: 'Seat Reserved', anonymousId: 'a-9' },
    expected: { error: 'userId is missing' },
  },
  { name: 'no key', config: { apiKey: '' }, event: { type: 'identify' }, expected: { error: 'apiKey is missing' } },
]
`
}

function guideFile({ displayName, now }: NewType): string {
  return `# ${displayName}

Sends users and events to ${displayName}. Say here where the API key is found.

## Configuration

| Variable | Meaning | Default |
|---|---|---|
| \`apiKey\` | API key. Required, and secret. | |

## What is mapped

| Event | Request | Example |
|---|---|---|
| identify | \`POST /v1/users\` | [An identify updates the user](#an-identify-updates-the-user) |
| track | \`POST /v1/events\` | [A track sends an event](#a-track-sends-an-event) |

## What is not mapped

| What | Why |
|---|---|
| page, screen, group, alias | Not supported; the Test API says so. |
| Anonymous users | [An anonymous user is refused](#an-anonymous-user-is-refused). |

## Sources

Read on ${now.toISOString().slice(0, 10)}:

- ${displayName}: the pages of the documentation, with links, and what each of them says.

## Examples
`
}
