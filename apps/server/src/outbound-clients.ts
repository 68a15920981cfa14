import { EgressRules, OutboundClient } from '@millrace/delivery'
import type { Clock } from '@millrace/std'
import type { Settings } from './config/settings.ts'

/** Most connections to one origin of one destination; its concurrency is bound by the same number. */
const MOST_CONNECTIONS = 1_000

/** @returns what makes the clients for calls to the outside: all of them keep to the rules that the settings give. */
export function outboundClients(settings: Settings, clock: Clock) {
  const rules = new EgressRules({ allow: settings.egressAllow, deny: settings.egressDeny, listenHost: settings.host })
  return (more: Partial<ConstructorParameters<typeof OutboundClient>[0]>) =>
    new OutboundClient({
      rules,
      clock,
      connections: MOST_CONNECTIONS,
      callTimeoutMs: settings.httpTimeoutMs,
      proxy: settings.egressProxy,
      ...more,
    })
}
