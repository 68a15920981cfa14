import type { OutboundCall, OutboundRequest, OutboundResult } from '../outbound-request.ts'
import type { OAuthTokens, Send } from './oauth-tokens.ts'
import type { IdentifiedGrant } from './outbound-credentials.ts'

/**
 * A call whose request carries an access token: it gets one first, and after an answer 401 a new one, with which it sends the
 * request once more.
 *
 * @see contracts/delivery.md §2a [D649]
 */
export class AuthorizedCall implements OutboundCall {
  readonly #tokens: OAuthTokens
  readonly #grant: IdentifiedGrant
  readonly #request: OutboundRequest
  readonly #send: Send
  readonly #onDone: (result: OutboundResult) => void
  #current: OutboundCall | undefined
  #isRepeated = false
  #isDone = false

  constructor(
    tokens: OAuthTokens,
    grant: IdentifiedGrant,
    request: OutboundRequest,
    send: Send,
    onDone: (result: OutboundResult) => void,
  ) {
    this.#tokens = tokens
    this.#grant = grant
    this.#request = request
    this.#send = send
    this.#onDone = onDone
  }

  start(): void {
    const token = this.#tokens.current(this.#grant, this.#send)
    if (token === undefined) this.#wait()
    else this.#sendWith(token)
  }

  abort(): void {
    const current = this.#current
    if (this.#isDone) return
    this.#finish({ kind: 'aborted' })
    current?.abort()
  }

  #wait(): void {
    this.#current = this.#tokens.wait(this.#grant, this.#send, (answer) => {
      if ('failure' in answer) this.#finish(answer.failure)
      else this.#sendWith(answer.token)
    })
  }

  #sendWith(token: string): void {
    if (this.#isDone) return
    this.#request.noteSecret?.(token)
    this.#current = this.#send(withToken(this.#request, token), (result) => {
      const isRefused = result.kind === 'answer' && result.status === 401
      if (!isRefused || this.#isRepeated || this.#isDone) {
        this.#finish(result)
        return
      }
      this.#isRepeated = true
      this.#tokens.drop(this.#grant, token)
      this.start()
    })
  }

  #finish(result: OutboundResult): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#onDone(result)
  }
}

/** The request as it is sent; its own `authorization`, in any letter case, stands for the token. */
function withToken(request: OutboundRequest, token: string): OutboundRequest {
  const headers = Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== 'authorization')
  return {
    method: request.method,
    url: request.url,
    headers: { ...Object.fromEntries(headers), authorization: `Bearer ${token}` },
    body: request.body,
    get secretHeaders() {
      return request.secretHeaders
    },
    configuredOrigin: request.configuredOrigin,
    credentials: request.credentials,
  }
}
