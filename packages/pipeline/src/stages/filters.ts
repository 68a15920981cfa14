import { type DestinationModule, supportsType, wantsEvent } from '@millrace/destinations'
import { isJsonObject, type JsonObject, type JsonValue, ownMember, type StoredEvent } from '@millrace/protocol'

/** The parts of a destination that filters use. */
export interface FilteredDestination {
  readonly id: string
  readonly name: string
  readonly config: JsonObject
  readonly module: DestinationModule
}

/** What the event itself and the destination's configuration give as reasons. */
export type ConfiguredReason =
  | 'integrations'
  | 'device mode'
  | 'message type not supported'
  | 'event filter'
  | 'no mapping matches'

/**
 * Returns why an event is not sent to an enabled destination (the first matching reason), or undefined if it is sent.
 *
 * @param sourceClass `cordova`, `web` or `cloud`.
 * @throws DestinationCodeError if the destination's code fails on the event.
 * @see contracts/delivery.md §5 [D614]
 */
export function filterReason(
  event: StoredEvent,
  destination: FilteredDestination,
  sourceClass: string,
): ConfiguredReason | undefined {
  if (!isWantedByEvent(event['integrations'], destination)) return 'integrations'
  if (isDeviceMode(destination.config, sourceClass)) return 'device mode'
  if (!supportsType(destination.module, event.type, destination.config)) return 'message type not supported'
  if (event.type === 'track' && !passesEventFilter(event['event'], destination.config)) return 'event filter'
  if (destination.module.remote?.units(event, destination.config).length === 0) return 'no mapping matches'
  return wantsEvent(destination.module, event, destination.config) ? undefined : 'event filter'
}

/** Looks up the destination's id, its name, its type's name and its former names, then All. @see contracts/delivery.md §5 [D612, D613] */
function isWantedByEvent(integrations: JsonValue | undefined, destination: FilteredDestination): boolean {
  if (!isJsonObject(integrations)) return true
  const { displayName, options } = destination.module.definition
  let value = ownMember(integrations, destination.id)
  if (value === undefined) value = ownMember(integrations, destination.name)
  if (value === undefined) value = ownMember(integrations, displayName)
  if (value === undefined && Array.isArray(options.aliases)) value = firstMember(integrations, options.aliases)
  if (value === undefined) value = ownMember(integrations, 'All')
  return value === undefined || isYes(value)
}

function firstMember(object: JsonObject, names: readonly JsonValue[]): JsonValue | undefined {
  for (const name of names) {
    const value = typeof name === 'string' ? ownMember(object, name) : undefined
    if (value !== undefined) return value
  }
  return undefined
}

/** Unclear values count as no: an event that was not sent can still be replayed. */
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
