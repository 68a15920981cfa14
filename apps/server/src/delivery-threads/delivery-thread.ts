import { type MessagePort, workerData } from 'node:worker_threads'
import { type SourceType, sourceClass } from '@millrace/control-plane/source'
import { ConnectedDeliveryStore, SharedMemoryBudget } from '@millrace/delivery'
import { DestinationCatalog } from '@millrace/destination-catalog'
import { TypesOnDemand } from '@millrace/destinations'
import { type SharedLog, ThreadEventLog } from '@millrace/log'
import { type HostCalls, serveShard, tellHost } from '@millrace/pipeline/thread'
import { systemClock as clock, PortCalls, ThreadEndedError } from '@millrace/std'
import type { Settings } from '../config/settings.ts'
import { catalogTrouble, catalogTypes } from '../destination-catalog/catalog-types.ts'
import { VerifiedTypes } from '../destination-catalog/verified-types.ts'
import { OutboundClients, type OutboundSettings } from '../outbound-clients.ts'
import { VERSION } from '../version.ts'

export type ThreadSettings = OutboundSettings &
  Pick<Settings, 'isDestinationCatalogOn' | 'destinationCatalogWorkers' | 'destinationCatalogMemoryMb'>

/** What a delivery thread is started with; the ports move to it. */
export interface ShardThreadData {
  readonly settings: ThreadSettings
  /** Delivery threads of the process. */
  readonly threads: number
  readonly log: SharedLog
  readonly store: MessagePort
  readonly host: MessagePort
  readonly memory: SharedArrayBuffer
  /** Names of verified types of the catalog. */
  readonly verifiedFile: string
}

/** A delivery thread: one shard with its own connections, over the log's files. */
const { settings, threads, log, store, host, memory, verifiedFile } = workerData as ShardThreadData

const logger = {
  debug: () => {},
  info: (fields: object, text: string) => tellHost({ kind: 'log', level: 'info', fields, text }),
  warn: (fields: object, text: string) => tellHost({ kind: 'log', level: 'warn', fields, text }),
  error: (fields: object, text: string) => tellHost({ kind: 'log', level: 'error', fields, text }),
}
// The main thread sees itself that the thread of the log or of the store has ended, and names it.
const onFault = (error: Error) => {
  if (!(error instanceof ThreadEndedError)) tellHost({ kind: 'fault', error })
}
const catalog = new DestinationCatalog({
  clock,
  logger,
  workers: settings.destinationCatalogWorkers,
  memoryMb: settings.destinationCatalogMemoryMb,
})
// Shown from the next start on: the types that people see are those of the main thread.
const verified = new VerifiedTypes(verifiedFile, (error) =>
  logger.warn({ err: error }, 'a type of the destination catalog cannot be noted as verified'),
)
const types = new TypesOnDemand()
const moreTypes = catalogTypes(catalog, catalogTrouble(settings), verified)
const main = new PortCalls<HostCalls>(host, () => {})
const outbound = new OutboundClients(settings, clock, {
  take: (request) => main.call('takeToken', request),
  put: (result) => void main.call('putToken', result).catch(() => {}),
})

serveShard({
  log: new ThreadEventLog(log, (offset) => tellHost({ kind: 'damage', offset }), onFault),
  store: new ConnectedDeliveryStore(store, { writers: threads, clock, logger, onFault }),
  host: main,
  findModule: (type) => types.find(type) ?? moreTypes.find(type),
  sourceClass: (type) => sourceClass(type as SourceType),
  newClient: (bounds) => outbound.make(bounds),
  clock,
  random: Math.random,
  userAgent: `Millrace/${VERSION}`,
  memory: new SharedMemoryBudget(memory),
  logger,
  close: async () => {
    outbound.close()
    await catalog[Symbol.asyncDispose]()
    host.close()
  },
})
