import type { FilterReason } from '@millrace/delivery'
import { type DestinationModule, supportsType, wantsEvent } from '@millrace/destinations'
import { isJsonObject, type JsonObject, type JsonValue, ownMember, type StoredEvent } from '@millrace/protocol'

/** A destination as its filters see it. */
export interface FilteredDestination {
  readonly id: string
  readonly name: string
  readonly config: JsonObject
  readonly module: DestinationModule
}

/**
 * Why an event does not go to an enabled destination; undefined if it does. The first reason that holds is given.
 *
 * @param sourceClass `cordova`, `web` or `cloud`.
 * @throws DestinationCodeError where the code of the destination fails at the event.
 * @see contracts/delivery.md §5 [D614]
 */
export function filterReason(
  event: StoredEvent,
  destination: FilteredDestination,
  sourceClass: string,
): Exclude<FilterReason, 'destination is disabled'> | undefined {
  if (!isWantedByEvent(event['integrations'], destination)) return 'integrations'
  if (isDeviceMode(destination.config, sourceClass)) return 'device mode'
  if (!supportsType(destination.module, event.type, destination.config)) return 'message type not supported'
  if (event.type === 'track' && !passesEventFilter(event['event'], destination.config)) return 'event filter'
  return wantsEvent(destination.module, event, destination.config) ? undefined : 'event filter'
}

/** The table of contracts/delivery.md §5 [D612, D613]: the destination's id, its own name, its definition's name, else All. */
function isWantedByEvent(integrations: JsonValue | undefined, destination: FilteredDestination): boolean {
  if (!isJsonObject(integrations)) return true
  for (const key of [destination.id, destination.name, destination.module.definition.displayName, 'All']) {
    const value = ownMember(integrations, key)
    if (value !== undefined) return isYes(value)
  }
  return true
}

/** A value as the sender means it; what means nothing clear is a no: an event that was not sent can still be. */
function isYes(value: JsonValue): boolean {
  return value === true || value === 'true' || value === 1 || isJsonObject(value)
}

function isDeviceMode({ connectionMode }: JsonObject, sourceClass: string): boolean {
  return isJsonObject(connectionMode) && ownMember(connectionMode, sourceClass) === 'device'
}

/** @see contracts/cordova-sdk.md §18 [S121] */
function passesEventFilter(eventName: JsonValue | undefined, config: JsonObject): boolean {
  const option = config['eventFilteringOption']
  const name = typeof eventName === 'string' ? eventName.trim() : ''
  switch (option) {
    case 'whitelistedEvents':
    case 'allowlist':
      return listed(config['whitelistedEvents'] ?? config['allowlist'], name)
    case 'blacklistedEvents':
    case 'denylist':
      return !listed(config['blacklistedEvents'] ?? config['denylist'], name)
    default:
      return true
  }
}

function listed(list: JsonValue | undefined, name: string): boolean {
  if (!Array.isArray(list)) return false
  return list.some((entry) => {
    const listedName = isJsonObject(entry) ? entry['eventName'] : undefined
    return typeof listedName === 'string' && listedName.trim() === name
  })
}
