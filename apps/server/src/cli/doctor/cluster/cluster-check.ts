import { destinationNames, placedSources } from '@millrace/control-plane/postgres'
import { storedPositions } from '@millrace/delivery/postgres'
import { partitionsOf } from '@millrace/pipeline/cluster'
import { liveMembers, PostgresPool, storedLeases } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import { type ClusterSettings, postgresOptions } from '../../../cluster/engines.ts'
import { type Finding, fail } from '../finding.ts'
import { checkKafka } from './kafka-check.ts'
import { checkLeases, checkMembers } from './members-check.ts'
import { checkPositions } from './positions-check.ts'
import { checkMigrations, checkServer } from './postgres-check.ts'

const CONNECTIONS = 2

/**
 * Checks the installation that these settings belong to, while it runs: what is in Kafka and in Postgres. It changes nothing.
 *
 * @see contracts/cluster.md §11 [K20]
 */
export async function* checkCluster(settings: ClusterSettings, clock: Clock): AsyncGenerator<Finding> {
  const { findings, report } = await checkKafka(settings, clock)
  yield* findings
  const options = postgresOptions(settings, { warn: () => {} })
  await using pool = new PostgresPool({ ...options, connections: CONNECTIONS })
  try {
    yield* checkServer(await serverFacts(pool, clock))
    const migrations = await checkMigrations(pool, settings)
    yield* migrations.findings
    if (!migrations.isUsable) return
    const [members, leases, sources, names, positions] = await Promise.all([
      liveMembers(pool),
      storedLeases(pool),
      placedSources(pool),
      destinationNames(pool),
      storedPositions(pool),
    ])
    yield* checkMembers(members)
    const homes = report?.checked?.places.homes
    if (homes === undefined) return
    const shards = new Set(
      sources.flatMap(({ partition, orderShards }) => {
        return partitionsOf({ partition, config: { orderShards } }, { partitions: homes, homes })
      }),
    )
    yield* checkLeases({ shards, leases, members })
    const offsets = report?.offsets
    if (offsets !== undefined) yield* checkPositions({ shards, positions, names, homes, offsets })
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'postgres_unavailable') throw error
    yield fail('postgres', `${(error as Error).message}: check MILLRACE_POSTGRES_URL and the network`)
  }
}

async function serverFacts(pool: PostgresPool, clock: Clock) {
  const startedAt = clock.monotonic()
  await pool.query('SELECT 1')
  const ms = clock.monotonic() - startedAt
  const [row] = await pool.query<{ version: string; number: number; most: number; used: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
       current_setting('max_connections')::integer AS most,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`,
  )
  return { ms, ...row! }
}
