import { isJsonObject, type JsonObject, ownMember, setMember } from './json.ts'

/**
 * The event in a pixel's query string, before enrichment: every value is a text, dotted names become nested objects, and
 * the last of equal names wins.
 *
 * @param now RFC 3339 time of acceptance.
 * @see contracts/ingest.md §7
 */
export function pixelEvent(query: string, type: 'track' | 'page', now: string): JsonObject {
  const event: JsonObject = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== 'writeKey') setAtPath(event, name.split('.'), value)
  }
  event['type'] = type
  event['channel'] = 'web'
  event['integrations'] = { All: true }
  event['originalTimestamp'] = now
  event['sentAt'] = now
  if (type === 'page' && (event['name'] === undefined || event['name'] === '')) event['name'] = 'Unknown Page'
  return event
}

/** Nesting of the event in a query, computed without building it. */
export function pixelNesting(query: string): number {
  let levels = 1
  for (const name of new URLSearchParams(query).keys()) {
    if (name !== 'writeKey') levels = Math.max(levels, name.split('.').length)
  }
  return levels
}

function setAtPath(event: JsonObject, path: string[], value: string): void {
  let target = event
  for (const name of path.slice(0, -1)) {
    const existing = ownMember(target, name)
    if (isJsonObject(existing)) {
      target = existing
    } else {
      const made: JsonObject = {}
      setMember(target, name, made)
      target = made
    }
  }
  setMember(target, path.at(-1)!, value)
}
