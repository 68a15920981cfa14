import type { ControlPlaneOptions } from '@millrace/control-plane'
import { type DestinationRegistry, maskConfig, unmaskConfig, withoutMasks } from '@millrace/destinations'

/** The types of destinations in the form of the control plane. */
export function destinationTypesOf(registry: DestinationRegistry): ControlPlaneOptions['destinationTypes'] {
  const moduleOf = (named: { definition: object }) => registry.find((named.definition as { name: string }).name)!
  return {
    find: (name) => registry.find(name),
    names: () => registry.names(),
    faultsIn: (type, config) => registry.faultsIn(moduleOf(type), config),
    maskConfig: (definition, config) => maskConfig(moduleOf({ definition }).definition, config),
    unmaskConfig: (definition, written, saved) => unmaskConfig(moduleOf({ definition }).definition, written, saved),
    withoutMasks: (definition, config) => withoutMasks(moduleOf({ definition }).definition, config),
  }
}
