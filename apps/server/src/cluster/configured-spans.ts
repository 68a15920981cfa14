import type { Deliveries, Snapshot } from '@millrace/control-plane'
import { configurationSpans, writeConfigurationSpans } from '@millrace/delivery/postgres'
import type { Configuration } from '@millrace/pipeline'
import { isConfigured, type SpannedConfiguration, Spans } from '@millrace/pipeline/cluster'
import type { ClusterEngines } from './engines.ts'

/**
 * The spans of each configuration. The process that makes a change reads the ends of the log first, and stores the spans in the
 * transaction of the change; so an event that is accepted after the answer lies within them. All processes read them.
 *
 * @see contracts/cluster.md §6 [K18]
 */
export class ConfiguredSpans {
  readonly #engines: Pick<ClusterEngines, 'log' | 'control'>

  constructor(engines: Pick<ClusterEngines, 'log' | 'control'>) {
    this.#engines = engines
  }

  /** Reads the ends of the log. @returns what stores the spans in the transaction of the change. @throws LogUnavailableError: then nothing changes. */
  async beside(configuration: Snapshot): ReturnType<NonNullable<Deliveries['beside']>> {
    const { log } = this.#engines
    const ends = await log.readEnds()
    const { revision } = configuration
    return (queries) =>
      writeConfigurationSpans(queries, {
        ...{ revision, ends },
        changeOf: (all) => new Spans(log, all).reconcile({ configuration, ends }),
      })
  }

  /**
   * A configuration with its spans. They may be those of a newer one: then they end earlier, or there are more.
   *
   * @throws PostgresUnavailableError
   */
  async of(configuration: Configuration): Promise<SpannedConfiguration> {
    const { spans } = await configurationSpans(this.#engines.control)
    return { configuration, spans: spans.filter((span) => isConfigured(span, configuration)) }
  }
}
