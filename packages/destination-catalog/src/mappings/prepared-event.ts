import { isJsonObject, type JsonObject } from '@millrace/protocol'

/**
 * The event as triggers and mappings see it. Derived from the event alone, equally in tests and in live traffic. Members that
 * stay as they are, are shared with the event.
 *
 * @see contracts/destination-catalog.md §8.1 [C20]
 */
export function preparedEvent(event: JsonObject): JsonObject {
  const prepared = { ...event }
  const { type, context } = event
  if (
    type === 'identify' &&
    !isJsonObject(event['traits']) &&
    isJsonObject(context) &&
    isJsonObject(context['traits'])
  ) {
    prepared['traits'] = context['traits']
  }
  if ((type === 'screen' || type === 'page') && !isText(event['name'])) {
    const properties = event['properties']
    const name = isText(event['event']) ? event['event'] : isJsonObject(properties) ? properties['name'] : undefined
    if (isText(name)) prepared['name'] = name
  }
  const ip = event['request_ip']
  if (isJsonObject(context) && !isText(context['ip']) && isText(ip)) prepared['context'] = { ...context, ip }
  return prepared
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
