import { isJsonObject, type JsonObject, type JsonValue, memberPath } from '@millrace/protocol'
import { ADDRESS_FIELDS } from '../definitions/address-fields.ts'
import type { EntryAction, EntryActions } from '../definitions/entry.ts'
import { directiveFault, isDirective } from './directives.ts'
import { triggerOf, type WrittenMapping } from './mappings.ts'
import { triggerFault } from './triggers.ts'

/** A place where a configuration breaks a rule that its schema cannot tell. */
export interface MappingFault {
  /** JSON pointer into the configuration. */
  readonly path: string
  readonly message: string
}

const MAX_MAPPINGS = 50

/**
 * Faults of the mappings of a configuration whose kinds the schema has checked.
 *
 * @see contracts/destination-catalog.md §7.2, §7.4 [C37, C42, C43]
 */
export function mappingFaults(slug: string, config: JsonObject, details: EntryActions): MappingFault[] {
  const written = config['subscriptions']
  if (!Array.isArray(written) || written.length > MAX_MAPPINGS) return []
  return written.flatMap((each, i) => {
    const action = isJsonObject(each) ? details.actions[String(each['action'])] : undefined
    // The schema has told of it.
    if (action === undefined) return []
    const faults = faultsOf(slug, each as unknown as WrittenMapping, action, details)
    return faults.map(({ path, message }) => ({ path: `/subscriptions/${i}${path}`, message }))
  })
}

function faultsOf(slug: string, written: WrittenMapping, action: EntryAction, details: EntryActions): MappingFault[] {
  return [
    ...triggerFaults(written, details),
    ...memberFaults(written, action, details),
    ...fieldFaults(slug, written, action),
  ]
}

function triggerFaults(written: WrittenMapping, details: EntryActions): MappingFault[] {
  const trigger = triggerOf(written, details)
  if (trigger === undefined) {
    return [{ path: '', message: `needs a trigger, because the action ${written.action} has none of its own` }]
  }
  const fault = written.trigger === undefined ? undefined : triggerFault(trigger)
  return fault === undefined ? [] : [{ path: '/trigger', message: fault }]
}

function memberFaults(written: WrittenMapping, action: EntryAction, { presets }: EntryActions): MappingFault[] {
  const faults: MappingFault[] = []
  if (written.preset !== undefined) {
    const isKnown = presets.some(({ name, action: of }) => name === written.preset && of === written.action)
    if (!isKnown) faults.push({ path: '/preset', message: `is no preset of the action ${written.action}` })
    if (written.base !== undefined) faults.push({ path: '/base', message: 'must be left out where preset is given' })
  }
  if (written.syncMode !== undefined && !action.syncModes?.includes(written.syncMode)) {
    const known = action.syncModes === undefined ? 'none' : action.syncModes.join(', ')
    faults.push({ path: '/syncMode', message: `is not a mode of the action; it has ${known}` })
  }
  if (written.batch === true && action.maxBatch === undefined) {
    faults.push({ path: '/batch', message: `must be false: the action ${written.action} takes one event at a time` })
  }
  return faults
}

function fieldFaults(
  slug: string,
  { mapping = {}, action: name }: WrittenMapping,
  action: EntryAction,
): MappingFault[] {
  return Object.entries(mapping).flatMap(([field, value]): MappingFault[] => {
    const path = memberPath('/mapping', field)
    if (action.fields[field] === undefined) return [{ path, message: `is not a field of the action ${name}` }]
    const addressFault = ADDRESS_FIELDS[slug]?.[name] === field ? addressFaultOf(field, value) : undefined
    if (addressFault !== undefined) return [{ path, message: addressFault }]
    const fault = directiveFault(value)
    return fault === undefined ? [] : [{ path: fault.path.reduce<string>(memberPath, path), message: fault.message }]
  })
}

/** Events come from clients, so they must not choose where requests go. */
function addressFaultOf(field: string, value: JsonValue): string | undefined {
  if (typeof value === 'string' || value === null) return undefined
  return isDirective(value) ? `${field} must be a literal address` : `${field} must be text`
}
