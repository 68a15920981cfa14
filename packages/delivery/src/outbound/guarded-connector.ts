import { ADDRCONFIG, type LookupAddress, lookup } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Deadlines } from '@millrace/std'
import type { buildConnector } from 'undici'
import type { EgressPlace, EgressRules } from './egress-rules.ts'
import { EgressRefusedError, TimedOutError } from './failures.ts'

/** Finds all addresses of a name. */
export type Lookup = (hostname: string, onFound: OnFound) => void
type OnFound = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

export const systemLookup: Lookup = (hostname, onFound) =>
  lookup(hostname, { all: true, hints: ADDRCONFIG }, (error, addresses) => onFound(error, addresses ?? []))

const KEEP_ALIVE_PROBE_MS = 60_000

export interface GuardedConnectorOptions {
  readonly place: EgressPlace
  readonly isSecure: boolean
  readonly rules: EgressRules
  readonly lookup: Lookup
  /** One wait for name, TCP and TLS together. */
  readonly deadlines: Deadlines
  /** Holds the sockets that are not connected yet. */
  readonly connecting: Set<Socket>
}

/**
 * Makes the connections of one origin. Each resolves the name once, has every address judged, and goes to one of exactly
 * these: the socket is given the judged addresses in place of a resolver, so nothing asks for the name a second time.
 *
 * @see contracts/delivery.md §9
 */
export function guardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { place, isSecure, rules, deadlines, connecting } = options
  const open = socketOpener(place, isSecure, judging(place, rules, sharing(options.lookup)))
  return ({ servername }, onConnected) => {
    // A literal address never reaches the lookup.
    const refusal = rules.judgeHost(place)
    if (refusal !== undefined) {
      queueMicrotask(() => onConnected(new EgressRefusedError(refusal), null))
      return
    }
    const socket = open(servername)
    const deadline = deadlines.start(() => socket.destroy(new TimedOutError('connecting took too long')))
    connecting.add(socket)
    const onSettled = () => {
      deadlines.clear(deadline)
      return connecting.delete(socket)
    }
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      if (onSettled()) onConnected(null, socket)
    })
    // Stays for the life of the socket: an error that nobody hears would end the process.
    socket.on('error', (error) => {
      if (onSettled()) onConnected(error, null)
    })
    socket.once('close', () => {
      if (onSettled()) onConnected(Object.assign(new Error('closed while connecting'), { code: 'ECONNRESET' }), null)
    })
  }
}

function socketOpener({ hostname, port }: EgressPlace, isSecure: boolean, lookup: LookupFunction) {
  const options: TcpNetConnectOpts = {
    host: hostname,
    port,
    lookup,
    autoSelectFamily: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
  }
  let session: Buffer | undefined
  return (customName: string | undefined): Socket => {
    if (!isSecure) return connectTcp(options)
    // A Host header may name the server only where the URL does not.
    const servername = isIP(hostname) === 0 ? hostname : customName
    const socket = connectTls({
      ...options,
      ...(servername ? { servername } : undefined),
      ...(session ? { session } : undefined),
      ALPNProtocols: ['http/1.1'],
    })
    return socket.on('session', (latest) => {
      session = latest
    })
  }
}

function judging(place: EgressPlace, rules: EgressRules, resolve: Lookup): LookupFunction {
  return (hostname, options, onFound) =>
    resolve(hostname, (error, addresses) => {
      const refusal = error
        ? undefined
        : rules.judgeAddresses(
            addresses.map(({ address }) => address),
            place,
          )
      if (error || refusal !== undefined || addresses.length === 0) {
        onFound(error ?? (refusal ? new EgressRefusedError(refusal) : notFound(hostname)), '')
      } else if (options.all) {
        onFound(null, addresses)
      } else {
        onFound(null, addresses[0]!.address, addresses[0]!.family)
      }
    })
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
}

/**
 * Connections that begin while the name is being resolved take part in that answer. The system resolves only a few
 * names at a time, so an origin whose name server hangs must not ask a hundred times and hold up everyone else.
 */
function sharing(resolve: Lookup): Lookup {
  let waiting: OnFound[] = []
  return (hostname, onFound) => {
    waiting.push(onFound)
    if (waiting.length > 1) return
    resolve(hostname, (error, addresses) => {
      const all = waiting
      waiting = []
      for (const each of all) each(error, addresses)
    })
  }
}
