import { setTimeout as delay } from 'node:timers/promises'
import type { ControlStore, ControlStoreOpener } from '@millrace/control-plane'
import { isConfiguration } from '@millrace/control-plane'
import type { DeliveryStore } from '@millrace/delivery'
import type { Configuration } from '@millrace/pipeline'
import { type ClusterLog, isConfigured, type SpannedConfiguration, Spans } from '@millrace/pipeline/cluster'
import type { PostgresPool } from '@millrace/postgres'

/** How long the process that made a change has to write its spans; then another one does. */
const WRITTEN_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 50

interface ConfiguredSpansOptions {
  readonly log: ClusterLog
  /** Without a fence: spans belong to the configuration, not to a shard. */
  readonly store: Pick<DeliveryStore, 'spans'>
  readonly pool: PostgresPool
}

/**
 * The spans of each configuration. The process that makes a change reads the ends of the log before it commits, and writes the
 * spans before it answers; so an event that is accepted after the answer lies within them. The other processes read the spans.
 *
 * @see contracts/cluster.md §6 [K18]
 */
export class ConfiguredSpans {
  readonly #options: ConfiguredSpansOptions
  /** By revision: the ends that this process read for its own change. */
  readonly #ends = new Map<number, readonly number[]>()

  constructor(options: ConfiguredSpansOptions) {
    this.#options = options
  }

  /** A control store whose commits of the configuration read the ends of the log first. */
  readingEnds(open: ControlStoreOpener): ControlStoreOpener {
    return async (...given) => {
      const store = await open(...given)
      const commit: ControlStore['commit'] = async (before, changes, entries) => {
        const ends = changes.some(isConfiguration) ? await this.#options.log.readEnds() : undefined
        const after = await store.commit(before, changes, entries)
        if (ends !== undefined) this.#ends.set(after.revision, ends)
        return after
      }
      return new Proxy(store, {
        get(target, name) {
          if (name === 'commit') return commit
          const value = Reflect.get(target, name, target)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    }
  }

  /** A configuration with its spans. @throws if Postgres or Kafka do not answer. */
  async of(configuration: Configuration): Promise<SpannedConfiguration> {
    const { revision } = configuration
    const own = this.#ends.get(revision)
    if (own !== undefined) await this.#write(configuration, own)
    else if (!(await this.#isWritten(revision))) {
      await this.#write(configuration, await this.#options.log.readEnds())
    }
    for (const each of this.#ends.keys()) if (each <= revision) this.#ends.delete(each)
    const spans = await this.#options.store.spans.all()
    return { configuration, spans: spans.filter((span) => isConfigured(span, configuration)) }
  }

  /** @returns false if no process has written them in time. */
  async #isWritten(revision: number): Promise<boolean> {
    const deadline = performance.now() + WRITTEN_WITHIN_MS
    for (;;) {
      const written = await this.#writtenRevision()
      // An installation that has just begun: no process is about to write.
      if (written === undefined) return false
      if (written >= revision) return true
      if (performance.now() > deadline) return false
      await delay(LOOK_AGAIN_MS)
    }
  }

  /** Nothing if a newer configuration is written already: its spans hold those of this one. */
  async #write(configuration: Configuration, ends: readonly number[]): Promise<void> {
    const { log, store, pool } = this.#options
    const { revision } = configuration
    await pool.transaction(async (queries) => {
      await queries.rows(`SELECT pg_advisory_xact_lock(hashtextextended('millrace spans ' || $1, 0))`, [pool.schema])
      const [row] = await queries.rows<{ revision: number }>('SELECT revision FROM spans_written')
      if (row !== undefined && row.revision >= revision) return
      const spans = new Spans(log, await store.spans.all())
      // Owners drop the spans of removed resources, once they have recorded the removal.
      const { put } = spans.reconcile({ configuration, ends })
      if (put.length > 0) await store.spans.write({ put, remove: [] })
      await queries.run(
        `INSERT INTO spans_written (id, revision) VALUES (1, $1)
         ON CONFLICT (id) DO UPDATE SET revision = excluded.revision`,
        [revision],
      )
    })
  }

  async #writtenRevision(): Promise<number | undefined> {
    const [row] = await this.#options.pool.query<{ revision: number }>('SELECT revision FROM spans_written')
    return row?.revision
  }
}
