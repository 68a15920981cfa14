import { EgressRules, HostNames, OAuthTokens, OutboundClient, type SharedTokens } from '@millrace/delivery'
import type { Clock } from '@millrace/std'
import type { Settings } from './config/settings.ts'

/** Maximum of connections to one origin of one destination; also limits its concurrency. */
const MAX_CONNECTIONS = 1_000

/** The settings that outbound clients follow. */
export type OutboundSettings = Pick<Settings, 'egressAllow' | 'egressDeny' | 'egressProxy' | 'host' | 'httpTimeoutMs'>

type ClientOptions = ConstructorParameters<typeof OutboundClient>[0]

/** Creates the outbound clients: all follow the rules of the settings, and share the DNS cache. */
export class OutboundClients {
  readonly #options: Omit<ClientOptions, 'lookup'>
  readonly #names: HostNames

  /** @param shared the access tokens of the process. */
  constructor(settings: OutboundSettings, clock: Clock, shared: SharedTokens) {
    this.#names = new HostNames({ clock })
    this.#options = {
      tokens: new OAuthTokens({ clock, shared }),
      rules: new EgressRules({ allow: settings.egressAllow, deny: settings.egressDeny, listenHost: settings.host }),
      clock,
      connections: MAX_CONNECTIONS,
      callTimeoutMs: settings.httpTimeoutMs,
      proxy: settings.egressProxy,
    }
  }

  /** One client for each destination: it shares no connections and no budget of lookups. */
  make(more: Partial<ClientOptions>): OutboundClient {
    return new OutboundClient({ lookup: this.#names.forDestination(), ...this.#options, ...more })
  }

  close(): void {
    this.#names.close()
  }
}
