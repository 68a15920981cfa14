import type { LookupAddress } from 'node:dns'
import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import type { Deadlines } from '@millrace/std'
import type { buildConnector } from 'undici'
import type { EgressPlace, EgressRules } from './egress-rules.ts'
import { EgressRefusedError, TimedOutError } from './failures.ts'
import type { Lookup } from './names/host-names.ts'

const KEEP_ALIVE_PROBE_MS = 60_000

export interface GuardedConnectorOptions {
  readonly place: EgressPlace
  readonly isSecure: boolean
  /** With our certificate, and the authorities of the server's; undefined for none and the usual ones. */
  readonly secureContext: SecureContext | undefined
  readonly rules: EgressRules
  readonly lookup: Lookup
  /** One wait for name, TCP and TLS together. */
  readonly deadlines: Deadlines
  /** Holds the connections that are not made yet. */
  readonly connecting: Set<Connecting>
}

/** A connection that is being made. */
export interface Connecting {
  /** Ends it, whether its name is being resolved or its socket is on the way. */
  giveUp(reason: Error): void
}

/**
 * Makes the connections of one origin. Each resolves the name, has every address judged, and goes to one of exactly these:
 * the socket is given the judged addresses in place of a resolver, so nothing asks for the name a second time.
 *
 * @see contracts/delivery.md §9
 */
export function guardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { place, isSecure, secureContext, rules, lookup, deadlines, connecting } = options
  const open = socketOpener(place, isSecure, secureContext)
  return ({ servername }, onConnected) => {
    const refusal = rules.judgeHost(place)
    if (refusal !== undefined) {
      queueMicrotask(() => onConnected(new EgressRefusedError(refusal), null))
      return
    }
    let socket: Socket | undefined
    let stopLooking: (() => void) | undefined
    const settle = (error: Error | null) => {
      deadlines.clear(deadline)
      if (!connecting.delete(attempt)) return
      if (error === null) onConnected(null, socket!)
      else onConnected(error, null)
    }
    const attempt: Connecting = {
      giveUp(reason) {
        stopLooking?.()
        socket?.destroy(reason)
        settle(reason)
      },
    }
    const deadline = deadlines.start(() => attempt.giveUp(new TimedOutError('connecting took too long')))
    connecting.add(attempt)

    const connect = (addresses: readonly LookupAddress[]) => {
      socket = open(addresses, servername)
      socket.once(isSecure ? 'secureConnect' : 'connect', () => settle(null))
      // Stays for the life of the socket: an error that nobody hears would end the process.
      socket.on('error', settle)
      socket.once('close', () => settle(Object.assign(new Error('closed while connecting'), { code: 'ECONNRESET' })))
    }
    const family = isIP(place.hostname)
    if (family !== 0) {
      connect([{ address: place.hostname, family }])
      return
    }
    stopLooking = lookup(
      place.hostname,
      (error, addresses) => {
        const reason = error ?? reasonAgainst(addresses, place, rules)
        if (reason === undefined) connect(addresses)
        else settle(reason)
      },
      place.isConfigured,
    )
  }
}

function reasonAgainst(addresses: readonly LookupAddress[], place: EgressPlace, rules: EgressRules): Error | undefined {
  if (addresses.length === 0) {
    return Object.assign(new Error(`${place.hostname} has no address`), { code: 'ENOTFOUND' })
  }
  const refusal = rules.judgeAddresses(
    addresses.map(({ address }) => address),
    place,
  )
  return refusal && new EgressRefusedError(refusal)
}

function socketOpener({ hostname, port }: EgressPlace, isSecure: boolean, secureContext: SecureContext | undefined) {
  let session: Buffer | undefined
  return (addresses: readonly LookupAddress[], customName: string | undefined): Socket => {
    const options: TcpNetConnectOpts = {
      host: hostname,
      port,
      lookup: (_, { all }, onFound) =>
        all ? onFound(null, [...addresses]) : onFound(null, addresses[0]!.address, addresses[0]!.family),
      autoSelectFamily: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    }
    if (!isSecure) return connectTcp(options)
    // A Host header may name the server only where the URL does not.
    const servername = isIP(hostname) === 0 ? hostname : customName
    const socket = connectTls({
      ...options,
      ...(servername ? { servername } : undefined),
      ...(session ? { session } : undefined),
      ...(secureContext ? { secureContext } : undefined),
      ALPNProtocols: ['http/1.1'],
    })
    return socket.on('session', (latest) => {
      session = latest
    })
  }
}
