import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import {
  type Actor,
  authorOf,
  type ControlPlane,
  limitAddress,
  limitGroup,
  trustedAddresses,
} from '@millrace/control-plane'
import type { Tester } from '@millrace/test-api'

/** Identifies the authors of requests outside /v2, by the credentials of those routes. */
export class Callers {
  readonly #controlPlane: ControlPlane
  readonly #addressOf: ReturnType<typeof limitAddress>
  readonly #isTrusted: ReturnType<typeof trustedAddresses>
  readonly #holders = new WeakMap<Socket, string>()

  constructor(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane
    this.#addressOf = limitAddress(controlPlane.options.trustedProxies)
    this.#isTrusted = trustedAddresses(controlPlane.options.trustedProxies)
  }

  /** The address by which limits count a request. */
  address({ socket, headers }: IncomingMessage): string {
    return this.#addressOf(socket.remoteAddress, headers['x-forwarded-for'])
  }

  /** The address whose share a request uses; undefined for a trusted proxy, which forwards many clients. */
  holder(request: IncomingMessage): string | undefined {
    const { trustedProxies } = this.#controlPlane.options
    if (trustedProxies.length > 0) return this.#holderNow(request)
    // Without proxies it is the same for every request of a connection.
    let holder = this.#holders.get(request.socket)
    if (holder === undefined) {
      holder = this.#holderNow(request)!
      this.#holders.set(request.socket, holder)
    }
    return holder
  }

  #holderNow(request: IncomingMessage): string | undefined {
    const address = this.address(request)
    return this.#isTrusted(address) ? undefined : limitGroup(address)
  }

  /** @returns undefined for invalid credentials; delayed if the address has failed often. */
  actor(request: IncomingMessage, requestId: string | null = null): Promise<Actor | undefined> {
    return this.#controlPlane.authenticate(request.headers, this.address(request), requestId)
  }

  /** As `actor`, for the Test API. */
  async tester(request: IncomingMessage, requestId: string): Promise<Tester | undefined> {
    const actor = await this.actor(request, requestId)
    if (actor === undefined) return undefined
    const author = authorOf(actor, this.address(request), requestId)
    return {
      tokenId: actor.token.id,
      role: actor.role,
      note: (resourceId) =>
        this.#controlPlane.audit.done(author, { action: 'test', kind: 'destination', resourceId, diff: [] }),
    }
  }

  /** Whether a request contains a session of the dashboard, valid or not. */
  isDashboard({ headers }: IncomingMessage): boolean {
    return this.#controlPlane.carriesSession(headers)
  }
}
