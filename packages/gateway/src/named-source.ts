import type { JsonObject } from '@millrace/protocol'
import type { GatewaySource } from './gateway-source.ts'
import { type IngestRoute, writeKeyInPath } from './ingest-routes.ts'
import { Refusal } from './refusals.ts'
import type { Exchange } from './requests/exchange.ts'
import { basicUserName, isBearer, withoutSecret } from './write-key.ts'

/** Looks up the current snapshot; never waits. */
export type FindSource = (writeKey: string) => GatewaySource | undefined

/**
 * Finds the source of a request by its write key.
 *
 * @see contracts/ingest.md §3
 */
export class NamedSource {
  readonly #find: FindSource

  constructor(find: FindSource) {
    this.#find = find
  }

  /** From header, path or query; undefined if the body must contain it. */
  ofRequest(exchange: Exchange, route: IngestRoute, query: string): GatewaySource | Refusal | undefined {
    if (route.writeKeyIn === 'query') return this.ofQuery(exchange, route, query)
    if (route.writeKeyIn === 'path') {
      return this.#of(exchange, route, writeKeyInPath(exchange.request.url!.split('?', 1)[0]!) ?? '')
    }
    const { authorization, 'x-write-key': ownHeader } = exchange.request.headers
    if (route.writeKeyIn === 'X-Write-Key' && typeof ownHeader === 'string') {
      return this.#of(exchange, route, withoutSecret(ownHeader))
    }
    if (authorization === undefined || isBearer(authorization)) return undefined
    const writeKey = basicUserName(authorization)
    return writeKey === undefined ? new Refusal('no_write_key') : this.#of(exchange, route, writeKey)
  }

  ofQuery(exchange: Exchange, route: IngestRoute, query: string): GatewaySource | Refusal {
    const writeKey = new URLSearchParams(query).get('writeKey')
    return writeKey ? this.#of(exchange, route, writeKey) : new Refusal('no_query_write_key')
  }

  ofBody(exchange: Exchange, route: IngestRoute, body: JsonObject): GatewaySource | Refusal {
    const writeKey = body['writeKey']
    if (typeof writeKey !== 'string' || writeKey.trim() === '') return new Refusal('no_write_key')
    return this.#of(exchange, route, writeKey)
  }

  #of(exchange: Exchange, route: IngestRoute, writeKey: string): GatewaySource | Refusal {
    exchange.writeKey = writeKey
    const source = this.#find(writeKey)
    if (source === undefined) return new Refusal('unknown_write_key')
    exchange.sourceId = source.id
    // Otherwise unsigned events could enter a webhook source that requires signatures.
    if ((source.webhook !== undefined) !== (route.record === 'webhook')) return new Refusal('source_route')
    return source.isEnabled ? source : new Refusal('source_disabled')
  }
}
