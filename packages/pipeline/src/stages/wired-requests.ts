import type { OutboundCredentials, OutboundRequest, ReadyRequests, ShownRequest } from '@millrace/delivery'
import { isSecretHeader, MASK, type Masking, type toWire } from '@millrace/destinations'

/** Masks the secrets of a destination, and those derived by its transformation. */
export type MaskingOf = (derivedSecrets: readonly string[]) => Masking

/** A request ready for the network. */
export class WiredRequest implements OutboundRequest {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly configuredOrigin: string | undefined
  readonly credentials: OutboundCredentials | undefined
  readonly endpoint: string
  readonly #shown: WiredRequests

  constructor(
    wire: ReturnType<typeof toWire>,
    endpoint: string,
    configuredOrigin: string | undefined,
    credentials: OutboundCredentials | undefined,
    shown: WiredRequests,
  ) {
    this.method = wire.method
    this.url = wire.url
    this.headers = wire.headers
    this.body = wire.body
    this.endpoint = endpoint
    this.configuredOrigin = configuredOrigin
    this.credentials = credentials
    this.#shown = shown
  }

  /** Lazy: needed only when a redirect leaves the origin. */
  get secretHeaders(): string[] {
    const { headers } = this.#shown.show(this)
    return Object.keys(headers)
      .filter((name) => headers[name] !== this.headers[name])
      .map((name) => name.toLowerCase())
  }

  noteSecret(value: string): void {
    this.#shown.sentSecrets.push(value)
    this.#shown.derivedSecrets.push(value)
  }
}

/** The requests of one event, ready for the network; their masked form is created on demand. */
export class WiredRequests implements ReadyRequests {
  readonly requests: WiredRequest[] = []
  readonly part = undefined
  readonly classify: ReadyRequests['classify']
  readonly derivedSecrets: string[]
  /** Secrets that sending has added, such as access tokens; they are among `derivedSecrets`, too. */
  readonly sentSecrets: string[] = []
  readonly #maskingOf: MaskingOf

  constructor(maskingOf: MaskingOf, derivedSecrets: string[], classify: ReadyRequests['classify']) {
    this.#maskingOf = maskingOf
    this.derivedSecrets = derivedSecrets
    this.classify = classify
  }

  add(others: Pick<WiredRequests, 'requests' | 'derivedSecrets'>): void {
    this.requests.push(...others.requests)
    this.derivedSecrets.push(...others.derivedSecrets)
  }

  show(request: OutboundRequest): ShownRequest {
    const masking = this.#maskingOf(this.derivedSecrets)
    const { method, endpoint, headers } = request as WiredRequest
    const shown: Record<string, string> = {}
    for (const [name, value] of Object.entries(headers)) {
      shown[name] = isSecretHeader(name, value) ? MASK : masking.text(value)
    }
    return { method, endpoint: masking.address(endpoint), headers: shown }
  }

  mask(text: string): string {
    return this.#maskingOf(this.derivedSecrets).text(text)
  }
}
