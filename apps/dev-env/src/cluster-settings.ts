import { randomUUID } from 'node:crypto'

/**
 * What every process of a cluster over one broker needs.
 *
 * @param brokers addresses, separated by commas.
 */
export function settingsOver(brokers: string, postgresUrl: string) {
  return {
    MILLRACE_KAFKA_BROKERS: brokers,
    // One broker keeps one copy.
    MILLRACE_KAFKA_UNSAFE: 'true',
    MILLRACE_POSTGRES_URL: postgresUrl,
    MILLRACE_SECRET_KEY: '0f'.repeat(32),
    MILLRACE_BACKLOG_MAX_MB: '1024',
    SERVICE_ADMIN_PASSWORD: 'service-admin-password',
  }
}

/**
 * With MILLRACE_KAFKA_BROKERS and MILLRACE_POSTGRES_URL in the environment of the tests, each product is a cluster of one process
 * with all roles, with topics and a schema of its own. @see contracts/cluster.md §15
 */
export function clusterSettings(): Readonly<Record<string, string>> {
  const { MILLRACE_KAFKA_BROKERS: brokers, MILLRACE_POSTGRES_URL: url } = process.env
  if (brokers === undefined || url === undefined) return {}
  const name = `dev_env_${randomUUID().replaceAll('-', '')}`
  return {
    ...settingsOver(brokers, url),
    MILLRACE_KAFKA_PREFIX: name,
    MILLRACE_PARTITIONS: '4',
    MILLRACE_POSTGRES_SCHEMA: name,
    MILLRACE_LEASE_SECONDS: '3',
  }
}
