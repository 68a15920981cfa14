import { type Clock, Deadlines, ReleasingMap } from '@millrace/std'
import { AuthorizedCall } from './credentials/authorized-call.ts'
import { OAuthTokens } from './credentials/oauth-tokens.ts'
import type { IdentifiedGrant } from './credentials/outbound-credentials.ts'
import type { EgressRules } from './egress-rules.ts'
import type { Lookup } from './names/host-names.ts'
import { DirectConnections, type OutboundConnections, ProxiedConnections } from './outbound-connections.ts'
import { type OutboundDeps, OutboundExchange } from './outbound-exchange.ts'
import type { OutboundCall, OutboundRequest, OutboundResult } from './outbound-request.ts'
import { Targets } from './target.ts'

export interface OutboundClientOptions {
  readonly rules: EgressRules
  readonly clock: Clock
  /** Name, TCP and TLS together. Default 5 s. */
  readonly connectTimeoutMs?: number
  /** From `send` to the end of the answer, over all redirects. Default 30 s. */
  readonly callTimeoutMs?: number
  /** Of an answer's body; then the connection is closed. Default 16 KB. */
  readonly maxAnswerBytes?: number
  /** At a time per origin; further requests wait for one. Default 128. */
  readonly connections?: number
  /** MILLRACE_EGRESS_PROXY, `http://host:port`. Names are then resolved by the proxy and only literal addresses and
   * hosts can be judged. */
  readonly proxy?: string | undefined
  /** Finds the addresses of names; `Names.forDestination()`. */
  readonly lookup: Lookup
  /** Shared by the clients of a process. Default: tokens of its own. */
  readonly tokens?: OAuthTokens
}

/**
 * The only way out: sends requests that configuration, events or user code cause, each to an address that the guard has
 * judged. Cheap to make; a destination has one of its own, so that no connection is shared between destinations.
 *
 * @see contracts/delivery.md §2, §9
 */
export class OutboundClient {
  readonly #connections: OutboundConnections
  readonly #connectDeadlines: Deadlines
  readonly #deps: OutboundDeps
  readonly #tokens: OAuthTokens
  readonly #authorized = new ReleasingMap<number, AuthorizedCall>()
  #lastAuthorized = 0

  constructor(options: OutboundClientOptions) {
    const { rules, clock, lookup, connectTimeoutMs = 5_000, callTimeoutMs = 30_000, connections = 128 } = options
    this.#tokens = options.tokens ?? new OAuthTokens({ clock })
    this.#connectDeadlines = new Deadlines(clock, connectTimeoutMs)
    this.#connections =
      options.proxy === undefined
        ? new DirectConnections({ rules, lookup, connectDeadlines: this.#connectDeadlines, connections })
        : new ProxiedConnections({ proxy: options.proxy, rules, lookup, connectTimeoutMs, connections })
    this.#deps = {
      clock,
      connections: this.#connections,
      deadlines: new Deadlines(clock, callTimeoutMs),
      callTimeoutMs,
      maxAnswerBytes: options.maxAnswerBytes ?? 16 * 1024,
      targets: new Targets(),
      isClosed: false,
    }
  }

  /** @param onDone called once, never before `send` has returned. */
  send(request: OutboundRequest, onDone: (result: OutboundResult) => void): OutboundCall {
    const grant = request.credentials?.grant
    return grant === undefined ? this.#exchange(request, onDone) : this.#authorize(grant, request, onDone)
  }

  /** Ends every connection; calls under way end as `aborted`. */
  async close(): Promise<void> {
    this.#deps.isClosed = true
    for (const call of [...this.#authorized.values()]) call.abort()
    await this.#connections.close()
    this.#connectDeadlines.close()
    this.#deps.deadlines.close()
  }

  readonly #exchange = (request: OutboundRequest, onDone: (result: OutboundResult) => void): OutboundCall => {
    const exchange = new OutboundExchange(this.#deps, request, onDone)
    exchange.start()
    return exchange
  }

  #authorize(grant: IdentifiedGrant, request: OutboundRequest, onDone: (result: OutboundResult) => void): OutboundCall {
    const number = ++this.#lastAuthorized
    const call = new AuthorizedCall(this.#tokens, grant, request, this.#exchange, (result) => {
      this.#authorized.take(number)
      onDone(result)
    })
    this.#authorized.add(number, call)
    if (this.#deps.isClosed) queueMicrotask(() => call.abort())
    else call.start()
    return call
  }
}
