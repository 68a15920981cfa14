import type { JsonObject } from '@millrace/protocol'
import type { MessageService } from './posted-message.ts'

/** Of a text, and of every text in a part: placeholders have no logic, so a helper would be posted as a gap. */
const TEMPLATE: JsonObject = {
  pattern: '^(?![\\s\\S]*\\{\\{\\s*([#/^>!&{~]|else\\b))',
  description: 'without {{#if}}, {{else}} and other helpers: only placeholders such as {{properties.row}} are filled',
  items: { $ref: '#/definitions/template' },
  additionalProperties: { $ref: '#/definitions/template' },
}
const TEXT: JsonObject = { type: 'string', pattern: TEMPLATE['pattern']!, description: TEMPLATE['description']! }

/** Definitions that `partList` and `messageProperties` refer to. */
export const MESSAGE_DEFINITIONS: JsonObject = { template: TEMPLATE }

/** The address by which a service takes messages. */
export const WEBHOOK_URL: JsonObject = {
  type: 'string',
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\\\s]+/',
  description: 'the http or https address of an incoming webhook',
}

/** A list of objects with placeholders in their texts. */
export function partList(maxItems: number, required: readonly string[] = []): JsonObject {
  return {
    type: 'array',
    maxItems,
    items: {
      type: 'object',
      required: [...required],
      properties: Object.fromEntries(required.map((name) => [name, { type: 'string' }])),
      additionalProperties: { $ref: '#/definitions/template' },
    },
  }
}

/**
 * Schema of the variables that say which events are posted, and with which text.
 *
 * @param entry further members of an entry of `eventTemplates`.
 */
export function messageProperties(
  { parts, identifyParts }: MessageService,
  list: JsonObject,
  entry: JsonObject,
): JsonObject {
  return {
    eventTemplates: {
      type: 'array',
      items: {
        type: 'object',
        required: ['eventName', 'text'],
        properties: { eventName: { type: 'string', minLength: 1 }, text: TEXT, ...entry, [parts]: list },
      },
    },
    postIdentify: { type: 'boolean', default: false },
    identifyTemplate: TEXT,
    [identifyParts]: list,
  }
}

/** Form fields of these variables. */
export function messageFields(texts: {
  readonly eventTemplates: string
  readonly identifyParts: { readonly key: string; readonly label: string; readonly help: string }
}): JsonObject[] {
  return [
    { key: 'eventTemplates', label: 'Events and their texts', help: texts.eventTemplates },
    { key: 'postIdentify', label: 'Post identify events', help: 'Also without a text of your own.' },
    {
      key: 'identifyTemplate',
      label: 'Text for an identify',
      help: 'For example {{name}} is on plan {{traits.plan}}.',
    },
    texts.identifyParts,
  ]
}
