import { EgressRules, HostNames, OAuthTokens, OutboundClient } from '@millrace/delivery'
import type { Clock } from '@millrace/std'
import type { Settings } from './config/settings.ts'

/** Most connections to one origin of one destination; its concurrency is bound by the same number. */
const MAX_CONNECTIONS = 1_000

type ClientOptions = ConstructorParameters<typeof OutboundClient>[0]

/** Makes the clients for calls to the outside: all of them keep to the rules that the settings give, and share what is known of names. */
export class OutboundClients {
  readonly #options: Omit<ClientOptions, 'lookup'>
  readonly #names: HostNames

  constructor(settings: Settings, clock: Clock) {
    this.#names = new HostNames({ clock })
    this.#options = {
      tokens: new OAuthTokens({ clock }),
      rules: new EgressRules({ allow: settings.egressAllow, deny: settings.egressDeny, listenHost: settings.host }),
      clock,
      connections: MAX_CONNECTIONS,
      callTimeoutMs: settings.httpTimeoutMs,
      proxy: settings.egressProxy,
    }
  }

  /** One for each destination: no connection and no budget of lookups is shared. */
  make(more: Partial<ClientOptions>): OutboundClient {
    return new OutboundClient({ lookup: this.#names.forDestination(), ...this.#options, ...more })
  }

  close(): void {
    this.#names.close()
  }
}
