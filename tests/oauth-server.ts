import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const AUTHORIZE = '/services/oauth2/authorize'
const TOKEN = '/services/oauth2/token'

interface Issued {
  readonly redirectUri: string
  readonly challenge: string
  readonly scope: string
}

/**
 * A service that issues refresh tokens as RFC 6749 §4.1 and RFC 7636 say, at the paths of Salesforce: codes that are good once, for
 * a registered redirect address, and a token endpoint that checks client, redirect address and verifier.
 * Its errors quote the secret that it was sent.
 */
export class OAuthServer implements AsyncDisposable {
  readonly clientId = 'app-of-the-cinema'
  readonly clientSecret = 'canary-of-the-app-0123456789'
  readonly refreshToken = 'canary-refresh-token-0123456789'
  /** Redirect addresses that are registered with the app. */
  readonly redirectUris = new Set<string>()
  readonly #codes = new Map<string, Issued>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  static async open(): Promise<OAuthServer> {
    const server = new OAuthServer()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Opens the page of an authorization as a person who allows it. @returns the address that the person is sent to. */
  async allow(url: string): Promise<URL> {
    const response = await fetch(url, { redirect: 'manual' })
    return new URL(response.headers.get('location')!)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.origin)
    if (url.pathname === AUTHORIZE) this.#authorize(url, response)
    else if (url.pathname === TOKEN && request.method === 'POST') {
      this.#exchange(new URLSearchParams(Buffer.concat(await request.toArray()).toString()), response)
    } else response.writeHead(404).end()
  }

  #authorize({ searchParams }: URL, response: ServerResponse): void {
    const of = (name: string) => searchParams.get(name) ?? ''
    const redirectUri = of('redirect_uri')
    const isKnown = of('client_id') === this.clientId && this.redirectUris.has(redirectUri)
    if (!isKnown || of('response_type') !== 'code' || of('code_challenge_method') !== 'S256') {
      // It never redirects to an address that is not registered.
      response.writeHead(400).end('redirect_uri_mismatch')
      return
    }
    const code = randomUUID()
    this.#codes.set(code, { redirectUri, challenge: of('code_challenge'), scope: of('scope') })
    const back = new URL(redirectUri)
    back.searchParams.set('state', of('state'))
    back.searchParams.set('code', code)
    response.writeHead(302, { location: back.href }).end()
  }

  #exchange(fields: URLSearchParams, response: ServerResponse): void {
    const code = fields.get('code') ?? ''
    const issued = this.#codes.get(code)
    this.#codes.delete(code)
    const challenge = createHash('sha256')
      .update(fields.get('code_verifier') ?? '')
      .digest('base64url')
    const isClient = fields.get('client_id') === this.clientId && fields.get('client_secret') === this.clientSecret
    const isCode = issued?.redirectUri === fields.get('redirect_uri') && issued?.challenge === challenge
    const error = isClient ? (isCode ? undefined : 'invalid_grant') : 'invalid_client'
    const offline = issued?.scope.split(' ').includes('refresh_token') ? { refresh_token: this.refreshToken } : {}
    const body =
      error === undefined
        ? { access_token: 'x7', token_type: 'Bearer', ...offline }
        : { error, error_description: `you sent ${fields.get('client_secret')}` }
    response
      .writeHead(error === undefined ? 200 : 400, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
  }
}
