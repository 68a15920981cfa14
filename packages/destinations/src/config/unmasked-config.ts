import type { JsonObject } from '@millrace/protocol'
import type { DestinationDefinition } from '../definition.ts'
import { hasOtherHost } from './other-host.ts'
import { MASK, mapPlaces, type SecretPlace } from './secrets.ts'

/**
 * The config to save when `written` comes in over `saved`: masks take the saved values, in lists of headers by name.
 *
 * @param saved undefined when there is none, or when its secrets must not be kept.
 * @returns the config; the paths of masks without a saved value, or in a place that is not secret, where readers would see the
 *   value; and whether requests may take the saved secrets to a host that did not get them before.
 */
export function unmaskConfig(
  definition: DestinationDefinition,
  written: JsonObject,
  saved: JsonObject | undefined,
): { config: JsonObject; masksWithoutValue: string[]; hasOtherHost: boolean } {
  const savedPlaces = new Map<string, SecretPlace>()
  mapPlaces(definition, saved ?? {}, (place) => {
    savedPlaces.set(place.key, place)
    return place.value
  })
  const masks = new Set<string>()
  const config = mapPlaces(definition, written, ({ key, path, value }) => {
    if (value !== MASK) return value
    // Of one address several parts may be masks.
    masks.add(`${path} ${key}`)
    return savedPlaces.get(key)?.value ?? value
  })
  const masksWithoutValue = new Set<string>()
  const kept = mapPlaces(definition, config, ({ key, path, value, isSecret }) => {
    const savedPlace = savedPlaces.get(key)
    if (!masks.has(`${path} ${key}`) || (savedPlace !== undefined && (isSecret || !savedPlace.isSecret))) return value
    masksWithoutValue.add(path)
    return MASK
  })
  return {
    config: kept,
    masksWithoutValue: [...masksWithoutValue],
    hasOtherHost: saved !== undefined && hasOtherHost(definition, written, saved),
  }
}
