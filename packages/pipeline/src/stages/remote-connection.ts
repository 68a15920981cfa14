import type { DestinationModule, RemoteOutcome, RemoteRun } from '@millrace/destinations'
import { Masking, secretValues } from '@millrace/destinations'
import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import { RemoteClient } from './remote-client.ts'
import { originsOf } from './remote-origins.ts'
import { type UnitDeps, UnitRequest } from './remote-units.ts'
import { type Sender, sendOnce } from './send-once.ts'
import { UnitMemory } from './unit-memory.ts'

interface ConnectionTestDeps {
  readonly sender: Sender & { close(): Promise<void> }
  readonly signal: AbortSignal
  readonly clock: Clock
}

const LATE: RemoteOutcome = { kind: 'retry', status: 504, text: 'Timed out', stage: 'delivery' }

/**
 * Lets remote code try a configuration.
 *
 * @param signal ends the test.
 * @returns undefined where there is nothing to try with.
 */
export async function tryRemoteConnection(
  { definition, remote }: DestinationModule,
  run: RemoteRun,
  savedConfig: JsonObject,
  { sender, signal, clock }: ConnectionTestDeps,
): Promise<{ readonly outcome: RemoteOutcome; readonly derivedSecrets: string[] } | undefined> {
  let isUntested = false
  const deliver: UnitDeps['remote']['deliver'] = async (_event, _unit, run, send) => {
    const outcome = await remote!.testConnection(run, send)
    isUntested = outcome === undefined
    return outcome ?? LATE
  }
  const unit = new UnitRequest(
    {} as StoredEvent,
    { index: 0, name: 'connection' },
    {
      remote: { deliver },
      run,
      maskingOf: (secrets) => new Masking([...secretValues(definition, run.config), ...secrets]),
      isConfiguredOrigin: originsOf(savedConfig),
    },
    new UnitMemory(),
  )
  await sendOnce([unit], new RemoteClient(sender, clock), signal).next()
  return isUntested ? undefined : { outcome: unit.outcome ?? LATE, derivedSecrets: unit.derivedSecrets }
}
