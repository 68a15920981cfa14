import {
  arePackagesInstalled,
  batchKey,
  type CatalogRequest,
  capturedObject,
  type DestinationCatalog,
  type Mapping,
} from '@millrace/destination-catalog'
import type {
  DestinationModule,
  MoreTypes,
  RemoteCode,
  RemoteRequest,
  RemoteUnit,
  SendRemote,
} from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'
import type { Settings } from '../config/settings.ts'

/** Stands for the whole event while the catalog cannot run, so that the event waits. */
const HELD: RemoteUnit = { index: 0, name: 'catalog' }

/** Which types a service has accepted an event of. */
export interface Verified {
  has(name: string): boolean
  note(name: string): void
}

const NONE_VERIFIED: Verified = { has: () => false, note: () => {} }

/**
 * The entries of the destination catalog as destination types.
 *
 * @param trouble why they cannot run. They are then hidden from lists, and their destinations wait.
 * @see contracts/destination-catalog.md §2 [C6]
 */
export function catalogTypes(
  catalog: DestinationCatalog,
  trouble: string | undefined,
  verified: Verified = NONE_VERIFIED,
): MoreTypes {
  const modules = new Map<string, DestinationModule>()
  return {
    names: () => (trouble === undefined ? catalog.names() : []),
    find: (name) => {
      const known = modules.get(name)
      if (known !== undefined) return known
      const definition = catalog.describe(name)
      if (definition === undefined) return undefined
      const options = {
        ...definition.options,
        get verified() {
          return verified.has(name)
        },
      }
      const remote = remoteCode(catalog, name, trouble, () => verified.note(name))
      const module = { definition: { ...definition, options }, transform: () => [], remote }
      modules.set(name, module)
      return module
    },
  }
}

/** Why the catalog cannot run; undefined if it can. */
export function catalogTrouble({
  isDestinationCatalogOn,
}: Pick<Settings, 'isDestinationCatalogOn'>): string | undefined {
  if (!isDestinationCatalogOn) return 'Destination catalog is switched off'
  return arePackagesInstalled() ? undefined : 'Destination catalog is not installed'
}

function remoteCode(
  catalog: DestinationCatalog,
  name: string,
  trouble: string | undefined,
  onAccepted: () => void,
): RemoteCode {
  const sending = (send: SendRemote) => (request: CatalogRequest) => send(remoteRequest(request))
  const delivering = (send: SendRemote) => async (request: CatalogRequest) => {
    const answer = await send(remoteRequest(request))
    if ('status' in answer && answer.status >= 200 && answer.status < 300) onAccepted()
    return answer
  }
  return {
    trouble: () => trouble,
    faultsIn: (config) => catalog.faultsIn(name, config),
    mappingEditor: () => ({ ...catalog.actions(name) }) as unknown as JsonObject,
    units: (event, config) =>
      trouble === undefined ? catalog.matching(name, event, config).map((mapping) => unitOf(event, mapping)) : [HELD],
    transform: async (event, run) => {
      if (trouble !== undefined) return { error: trouble }
      const made = await catalog.transform(name, event, run)
      if (made.kind === 'failed') return { error: made.text }
      const { requests, isPartial } = made
      return {
        requests: requests.map(({ object }) => object),
        derivedSecrets: requests.flatMap(({ request }) => request.secrets),
        isPartial,
        rules: [...new Set(requests.flatMap(({ request }) => request.rules))],
      }
    },
    deliver: async (event, unit, run, send, faults) => {
      if (trouble !== undefined) return { kind: 'retry', status: 503, text: trouble, stage: 'delivery' }
      return catalog.deliver(name, event, (unit as CatalogUnit).mapping, run, delivering(send), faults)
    },
    maxBatch: (config) => (trouble === undefined ? catalog.maxBatch(name, config) : 1),
    deliverBatch: (events, unit, run, send) =>
      catalog.deliverBatch(name, events, (unit as CatalogUnit).mapping, run, delivering(send)),
    fieldOptions: async (run, field, send) => {
      const dynamic = catalog.actions(name).actions[field.action]?.fields[field.name]?.dynamic
      if (dynamic === undefined) return undefined
      const end = await catalog.fieldOptions(name, field, run, sending(send))
      return 'choices' in end ? end : { failed: end }
    },
    testConnection: (run, send) => catalog.testConnection(name, run, sending(send)),
  }
}

interface CatalogUnit extends RemoteUnit {
  readonly mapping: Mapping
}

function unitOf(event: JsonObject, mapping: Mapping): CatalogUnit {
  const { index, name, maxBatch } = mapping
  if (maxBatch === undefined) return { index, name, mapping }
  return { index, name, mapping, batch: { key: batchKey(event, mapping), maxEvents: maxBatch } }
}

function remoteRequest(request: CatalogRequest): RemoteRequest {
  const { method, url, headers, body, bodyIsBase64, timeoutMs, secrets, rules } = request
  return {
    method,
    url,
    headers,
    body: bodyIsBase64 ? Buffer.from(body, 'base64') : body,
    /** People read it: it is made when they open the request. */
    get object() {
      return capturedObject(request)
    },
    timeoutMs,
    derivedSecrets: secrets,
    rules,
  }
}
