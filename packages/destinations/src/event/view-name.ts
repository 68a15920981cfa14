import { eventName, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { replacePlaceholders } from '../messages/template.ts'
import { withTraits } from './event-facts.ts'

/*
 * How a view of a page or screen is called where a service knows events by their names only. A type may have a template for
 * each, in the variables `pageName` and `screenName`.
 */

/** By the template of the configuration, else `Viewed <name> Page`. @throws Error if the event has no value of the template. */
export function configuredViewName(event: StoredEvent, config: JsonObject): string {
  const variable = variableFor(event)
  const template = config[variable]
  return isTemplate(template) ? nameBy(template, variable, event) : viewName(event)
}

/** The properties of a view. One that a template names keeps its own name among them: the template may leave it out. */
export function viewProperties(event: StoredEvent, config: JsonObject, properties: JsonObject): JsonObject {
  const name = eventName(event)
  return name !== '' && isTemplate(config[variableFor(event)]) ? { name, ...properties } : properties
}

export function viewName(event: StoredEvent): string {
  const kind = event.type === 'page' ? 'Page' : 'Screen'
  const name = eventName(event)
  return name === '' ? `Viewed ${kind}` : `Viewed ${name} ${kind}`
}

/** A value that the event lacks is left out, with the space beside it. */
function nameBy(template: string, variable: string, event: StoredEvent): string {
  const values = { ...withTraits(event), name: eventName(event) }
  const name = replacePlaceholders(template, values, (text) => text)
    .text.replace(/\s+/g, ' ')
    .trim()
  if (name === '') throw new Error(`${variable} gives no name: the event has none of its values`)
  return name
}

function variableFor(event: StoredEvent): 'pageName' | 'screenName' {
  return event.type === 'page' ? 'pageName' : 'screenName'
}

function isTemplate(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
