import type { LookupFunction } from 'node:net'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Deadlines } from '@millrace/std'
import type { Dispatcher, ProxyAgent } from 'undici'
import type { IdentifiedCertificate } from './credentials/outbound-credentials.ts'
import type { EgressRules } from './egress-rules.ts'
import { EgressRefusedError } from './failures.ts'
import { type Connecting, guardedConnector } from './guarded-connector.ts'
import type { Lookup } from './names/host-names.ts'
import type { Target } from './target.ts'
import { newProxyAgent, Pool } from './undici-parts.ts'

/** The ways to targets. */
export interface OutboundConnections {
  /**
   * @param isConfigured whether the destination's own configuration names the target's origin.
   * @param certificate connections made with it carry no request without it.
   * @throws EgressRefusedError where the guard can tell before connecting.
   * @throws Error for a certificate that cannot be read.
   */
  to(target: Target, isConfigured: boolean, certificate: IdentifiedCertificate | undefined): Dispatcher
  /** Ends every connection; requests under way fail. */
  close(): Promise<unknown>
}

const MAX_ORIGINS = 64
const MAX_CERTIFICATES = 8

/** The call as a whole has a deadline of its own, so no part of it needs one. */
const POOL_OPTIONS = { pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0, keepAliveMaxTimeout: 60_000 }

export interface DirectConnectionsOptions {
  readonly rules: EgressRules
  readonly lookup: Lookup
  readonly connectDeadlines: Deadlines
  /** Per origin. */
  readonly connections: number
}

/**
 * A pool of kept connections for each of the latest origins, and of each certificate used there. Loopback may be open to the configured origin only, so
 * connections made for it are kept apart from those to origins that anyone else named.
 */
export class DirectConnections implements OutboundConnections {
  readonly #options: DirectConnectionsOptions
  readonly #configured = new Map<string, Pool>()
  readonly #named = new Map<string, Pool>()
  /** No longer among the latest, finishing what is under way. */
  readonly #retiring = new Set<Pool>()
  readonly #connecting = new Set<Connecting>()

  constructor(options: DirectConnectionsOptions) {
    this.#options = options
  }

  to(target: Target, isConfigured: boolean, certificate: IdentifiedCertificate | undefined): Dispatcher {
    const pools = isConfigured ? this.#configured : this.#named
    const key = certificate === undefined ? target.origin : `${target.origin} ${certificate.id}`
    return pools.get(key) ?? this.#add(pools, key, target, isConfigured, certificate)
  }

  async close(): Promise<void> {
    const pools = [...this.#configured.values(), ...this.#named.values(), ...this.#retiring]
    for (const attempt of [...this.#connecting]) attempt.giveUp(new Error('closed'))
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  #add(
    pools: Map<string, Pool>,
    key: string,
    target: Target,
    isConfigured: boolean,
    certificate: IdentifiedCertificate | undefined,
  ): Pool {
    const secureContext = certificate && createSecureContext(tlsOptions(certificate))
    if (pools.size >= MAX_ORIGINS) {
      const [origin, oldest] = pools.entries().next().value!
      pools.delete(origin)
      this.#retiring.add(oldest)
      void oldest.close().then(() => this.#retiring.delete(oldest))
    }
    const connect = guardedConnector({
      place: { hostname: target.hostname, port: target.port, isConfigured },
      isSecure: target.isSecure,
      secureContext,
      rules: this.#options.rules,
      lookup: this.#options.lookup,
      deadlines: this.#options.connectDeadlines,
      connecting: this.#connecting,
    })
    const pool = new Pool(target.origin, { ...POOL_OPTIONS, connections: this.#options.connections, connect })
    pools.set(key, pool)
    return pool
  }
}

export interface ProxiedConnectionsOptions {
  readonly proxy: string
  readonly rules: EgressRules
  /** For the name of the proxy itself. */
  readonly lookup: Lookup
  readonly connectTimeoutMs: number
  /** Per origin. */
  readonly connections: number
}

/**
 * Everything through the operator's proxy, which resolves the names: of a name the guard then knows only the lists of
 * hosts, of an address in place of a name everything.
 */
export class ProxiedConnections implements OutboundConnections {
  readonly #agent: ProxyAgent
  /** By the id of the certificate; of a destination that changes it, the latest ones. */
  readonly #ofCertificates = new Map<string, ProxyAgent>()
  readonly #retiring = new Set<ProxyAgent>()
  readonly #rules: EgressRules
  readonly #newAgent: (certificate: IdentifiedCertificate | undefined) => ProxyAgent

  constructor({ proxy, rules, lookup, connectTimeoutMs, connections }: ProxiedConnectionsOptions) {
    this.#rules = rules
    const proxyTls = { lookup: lookupOfProxy(lookup) }
    this.#newAgent = (certificate) =>
      newProxyAgent({
        ...POOL_OPTIONS,
        uri: proxy,
        connections,
        connectTimeout: connectTimeoutMs,
        proxyTls,
        ...(certificate === undefined ? {} : { requestTls: tlsOptions(certificate) }),
      })
    this.#agent = this.#newAgent(undefined)
  }

  to({ hostname, port }: Target, isConfigured: boolean, certificate: IdentifiedCertificate | undefined): Dispatcher {
    const refusal = this.#rules.judgeHost({ hostname, port, isConfigured })
    if (refusal !== undefined) throw new EgressRefusedError(refusal)
    return certificate === undefined ? this.#agent : this.#agentOf(certificate)
  }

  async close(): Promise<void> {
    const agents = [this.#agent, ...this.#ofCertificates.values(), ...this.#retiring]
    await Promise.all(agents.map((agent) => agent.destroy()))
  }

  #agentOf(certificate: IdentifiedCertificate): ProxyAgent {
    const known = this.#ofCertificates.get(certificate.id)
    if (known !== undefined) return known
    if (this.#ofCertificates.size >= MAX_CERTIFICATES) {
      const [id, oldest] = this.#ofCertificates.entries().next().value!
      this.#ofCertificates.delete(id)
      this.#retiring.add(oldest)
      void oldest.close().then(() => this.#retiring.delete(oldest))
    }
    // Agents connect later: a certificate that cannot be read is to fail here.
    createSecureContext(tlsOptions(certificate))
    const agent = this.#newAgent(certificate)
    this.#ofCertificates.set(certificate.id, agent)
    return agent
  }
}

function tlsOptions({ identity, authorities }: IdentifiedCertificate): SecureContextOptions {
  return {
    ...(identity && { cert: identity.certificate, key: identity.key }),
    ...(identity?.passphrase === undefined ? {} : { passphrase: identity.passphrase }),
    ...(authorities === undefined ? {} : { ca: authorities }),
  }
}

/** The proxy's own name, in the form that sockets ask for. */
function lookupOfProxy(lookup: Lookup): LookupFunction {
  return (hostname, { all }, onFound) =>
    void lookup(
      hostname,
      (error, addresses) => {
        if (error !== null) onFound(error, '')
        else if (all) onFound(null, [...addresses])
        else onFound(null, addresses[0]!.address, addresses[0]!.family)
      },
      true,
    )
}
