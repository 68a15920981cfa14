import { randomBytes } from 'node:crypto'
import { ControlPlane, type ControlStoreOpener, type LogLineBook } from '@millrace/control-plane'
import { type DestinationRegistry, Masking } from '@millrace/destinations'
import type { Clock } from '@millrace/std'
import { type Sandboxes, transformationTemplates } from '@millrace/transformations'
import type { Settings } from '../config/settings.ts'
import { destinationTypesOf } from '../destination-types.ts'
import { Callers } from '../http/callers.ts'
import type { ServerLogger } from '../logger.ts'
import { VERSION } from '../version.ts'
import type { Part } from './part.ts'

interface ControlNeeds {
  readonly store: ControlStoreOpener
  /** Partitions of the log that sources have. */
  readonly partitions: number
  readonly secretKey: Uint8Array
  /** Default: in the memory of this process. */
  readonly logLines?: LogLineBook | undefined
  readonly settings: Settings
  readonly registry: DestinationRegistry
  /** Checks and tests user code. */
  readonly sandboxes: Sandboxes
  /** In the name of the dashboard's cookie. */
  readonly serverName: string
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** The configuration, its users and their access. */
export interface ControlPart extends Part {
  readonly controlPlane: ControlPlane
  readonly callers: Callers
  /** Whether a source has a dedup window. */
  readonly hasDedup: boolean
}

/** @throws WrongSecretKeyError, NewerDatabaseError, before anything is written. */
export async function openControl(needs: ControlNeeds): Promise<ControlPart> {
  const { store, partitions, secretKey, logLines, settings, registry, sandboxes, serverName, clock, logger } = needs
  const controlPlane = await ControlPlane.open({
    store,
    partitions,
    secretKey,
    logLines,
    clock,
    random: randomBytes,
    version: VERSION,
    destinationTypes: destinationTypesOf(registry),
    code: sandboxes,
    codeTemplates: transformationTemplates,
    maskingOf: (secrets) => new Masking(secrets),
    logger,
    apiRequestsPerMinute: settings.apiRequestsPerMinute,
    serverName,
    trustedProxies: settings.trustedProxies,
  })
  return {
    controlPlane,
    callers: new Callers(controlPlane),
    hasDedup: [...controlPlane.snapshot().sources.values()].some(({ config }) => config.dedupWindowSeconds > 0),
    checks: { config: { trouble: () => undefined } },
    [Symbol.asyncDispose]: () => controlPlane[Symbol.asyncDispose](),
  }
}
