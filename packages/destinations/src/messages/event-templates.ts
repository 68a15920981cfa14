import { isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'

/** The first entry of the list whose name fits the event; undefined if the event is not listed. */
export function templateOf(event: StoredEvent, templates: readonly JsonValue[]): JsonObject | undefined {
  const name = event['event']
  return templates
    .filter(isJsonObject)
    .find(({ eventName }) => typeof eventName === 'string' && typeof name === 'string' && fits(eventName, name))
}

/** Whether a pattern fits a whole name: `*` stands for any text. In linear time, because names come from clients. */
function fits(pattern: string, name: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return pattern === name
  if (!name.startsWith(start)) return false
  let at = start.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - end.length >= at && name.endsWith(end)
}
