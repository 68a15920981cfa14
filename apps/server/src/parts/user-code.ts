import { TRANSFORM_CLIENT_BOUNDS, TransformClients, transformFetch } from '@millrace/pipeline'
import type { Clock } from '@millrace/std'
import { Sandboxes } from '@millrace/transformations'
import type { Settings } from '../config/settings.ts'
import { counter, gauge, labelled, total } from '../http/prometheus-text.ts'
import type { ServerLogger } from '../logger.ts'
import type { OutboundClients } from '../outbound-clients.ts'
import { VERSION } from '../version.ts'
import type { Part } from './part.ts'

interface UserCodeNeeds {
  readonly settings: Settings
  readonly outbound: OutboundClients
  /** Replaces the program of the processes; only fault injection uses it. */
  readonly program: string | undefined
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Opens the user-code processes: for live events, for tests, and to check code on save. */
export function openUserCode(needs: UserCodeNeeds): Part & { readonly sandboxes: Sandboxes } {
  const { settings, outbound, program, clock, logger } = needs
  const clients = new TransformClients(() => outbound.make(TRANSFORM_CLIENT_BOUNDS))
  const sandboxes = new Sandboxes({
    limits: {
      memoryMb: settings.transformMemoryMb,
      sandboxes: settings.transformSandboxes,
      workers: settings.transformWorkers,
      totalMb: settings.transformTotalMb,
      syncMs: settings.transformSyncMs,
      wallMs: settings.transformWallMs,
    },
    fetch: settings.isTransformFetchOn ? transformFetch(clients, VERSION, clock) : undefined,
    clock,
    logger,
    ...(program === undefined ? {} : { program }),
  })
  return {
    sandboxes,
    metrics: () => metricsOf(sandboxes),
    async [Symbol.asyncDispose]() {
      await sandboxes.close()
      await clients.close()
    },
  }
}

function metricsOf(code: Sandboxes): readonly string[] {
  const { sandboxes, children, penalised, runs, troubles } = code.figures()
  return [
    gauge('millrace_transformation_sandboxes', 'Live user-code sandboxes.', sandboxes),
    gauge('millrace_transformation_processes', 'User-code processes.', children),
    gauge(
      'millrace_transformation_penalised',
      'Destinations whose user code runs in a separate process after a fault.',
      penalised,
    ),
    total('millrace_transformation_runs_total', 'User-code batches, including test runs.', runs),
    counter(
      'millrace_transformation_faults_total',
      'Runs of user code ended by the sandbox, by fault.',
      labelled('fault', Object.entries(troubles)),
    ),
  ]
}
