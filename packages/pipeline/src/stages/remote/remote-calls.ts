import type {
  DestinationModule,
  RemoteField,
  RemoteFieldOptions,
  RemoteOutcome,
  RemoteRun,
  SendRemote,
} from '@millrace/destinations'
import { Masking, secretValues } from '@millrace/destinations'
import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import { type Sender, sendOnce } from '../send-once.ts'
import { RemoteClient } from './remote-client.ts'
import { originsOf } from './remote-origins.ts'
import { UnitRequest } from './remote-units.ts'
import { UnitMemory } from './unit-memory.ts'

interface RemoteCallDeps {
  readonly sender: Sender & { close(): Promise<void> }
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** A configuration that remote code is tried with. */
export interface TriedConfiguration {
  readonly run: RemoteRun
  /** Only its addresses may be loopback. */
  readonly savedConfig: JsonObject
}

const LATE: RemoteOutcome = { kind: 'retry', status: 504, text: 'Timed out', stage: 'delivery' }
const DONE: RemoteOutcome = { kind: 'delivered', status: 200, text: '', stage: 'delivery' }

/**
 * Lets remote code try a configuration.
 *
 * @returns undefined where there is nothing to try with.
 */
export async function tryRemoteConnection(
  module: DestinationModule,
  tried: TriedConfiguration,
  deps: RemoteCallDeps,
): Promise<{ readonly outcome: RemoteOutcome; readonly derivedSecrets: string[] } | undefined> {
  let isUntested = false
  const called = await callOnce(module, tried, deps, async (send) => {
    const outcome = await module.remote!.testConnection(tried.run, send)
    isUntested = outcome === undefined
    return outcome ?? LATE
  })
  return isUntested ? undefined : called
}

/**
 * Lets remote code ask its service for the choices of a field.
 *
 * @returns undefined where the field has none.
 */
export async function remoteFieldOptions(
  module: DestinationModule,
  tried: TriedConfiguration,
  field: RemoteField,
  deps: RemoteCallDeps,
): Promise<{ readonly options: RemoteFieldOptions; readonly derivedSecrets: string[] } | undefined> {
  let isAnswered = false
  let options: RemoteFieldOptions | undefined
  const { derivedSecrets, outcome } = await callOnce(module, tried, deps, async (send) => {
    options = await module.remote!.fieldOptions(tried.run, field, send)
    isAnswered = true
    return options !== undefined && 'failed' in options ? options.failed : DONE
  })
  if (!isAnswered) return { options: { failed: outcome }, derivedSecrets }
  return options && { options, derivedSecrets }
}

/** Runs a call of remote code with real sending, as a lane runs a unit. */
async function callOnce(
  { definition }: DestinationModule,
  { run, savedConfig }: TriedConfiguration,
  { sender, signal, clock }: RemoteCallDeps,
  work: (send: SendRemote) => Promise<RemoteOutcome>,
): Promise<{ readonly outcome: RemoteOutcome; readonly derivedSecrets: string[] }> {
  const unit = new UnitRequest(
    {} as StoredEvent,
    { index: 0, name: 'connection' },
    {
      remote: { deliver: (_event, _unit, _run, send) => work(send) },
      run,
      maskingOf: (secrets) => new Masking([...secretValues(definition, run.config), ...secrets]),
      isConfiguredOrigin: originsOf(savedConfig),
    },
    new UnitMemory(),
  )
  // Its result is in the unit.
  await sendOnce([unit], new RemoteClient(sender, clock), signal).next()
  return { outcome: unit.outcome ?? LATE, derivedSecrets: unit.derivedSecrets }
}
