import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, Server, type Socket } from 'node:net'
import { isBodyHeldBack } from '@millrace/std'
import { createServer } from '@millrace/std/node-http'

const MAX_HEADER_BYTES = 64 * 1024
/** Time limit of a whole request on any route; ingest has a shorter limit for bodies. */
const REQUEST_TIMEOUT_MS = 60_000
const HEADERS_TIMEOUT_MS = 30_000
/** Longer than the idle time of common load balancers, so the load balancer closes first. */
const KEEP_ALIVE_MS = 65_000

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** The port is in use, or the address does not belong to this machine. */
export class ListenError extends Error {
  override name = 'ListenError'
  readonly code = 'LISTEN'
}

/**
 * The single listening socket. It answers from the start: until the product is recovered, that the server is not ready;
 * during a stop, requests in progress.
 */
export class Front implements AsyncDisposable {
  readonly #server: HttpServer
  #handler: Handler = answerNotReady
  #isStopping = false
  #inProgress = 0
  #onIdle: () => void = () => {}

  /** @throws ListenError */
  static async listen(host: string, port: number): Promise<Front> {
    const front = new Front()
    await new Promise<void>((resolve, reject) => {
      front.#server.once('error', (error: NodeJS.ErrnoException) =>
        reject(new ListenError(listenText(error, host, port))),
      )
      front.#server.listen(port, host, resolve)
    })
    return front
  }

  private constructor() {
    this.#server = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        requestTimeout: REQUEST_TIMEOUT_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
      },
      (request, response) => this.#handle(request, response),
    )
    // A client that closes its sending half behind its request, as `nc -N` does, still gets the answer. The option is not in Node's types.
    Object.assign(this.#server, { httpAllowHalfOpen: true })
    // The code that needs the body tells the client to send it.
    this.#server.on('checkContinue', (request, response) => this.#handle(request, response))
    this.#server.on('clientError', answerClientError)
  }

  get address(): AddressInfo {
    return this.#server.address() as AddressInfo
  }

  serve(handler: Handler): void {
    this.#handler = handler
  }

  /**
   * Accepts no new connections. Requests on open connections are answered until the rest of the server has finished, so
   * /ready can show the reason. Then it waits for requests in progress, at most until `deadline`.
   */
  async stop(finished: Promise<unknown>, deadline: Promise<void>): Promise<void> {
    this.#isStopping = true
    // Closing an HTTP server would also end the idle connections.
    const closed = new Promise<void>((resolve) => Server.prototype.close.call(this.#server, () => resolve()))
    await finished
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
      if (this.#inProgress === 0) resolve()
    })
    await Promise.race([deadline, idle])
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Accepts nothing more, without waiting. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop(Promise.resolve(), Promise.resolve())
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    this.#inProgress++
    response.on('close', () => {
      this.#inProgress--
      if (this.#inProgress === 0) this.#onIdle()
    })
    if (this.#isStopping) response.shouldKeepAlive = false
    if (namesHostTwice(request.rawHeaders)) {
      if (isBodyHeldBack(request)) response.shouldKeepAlive = false
      const text = 'Bad Request'
      response.writeHead(400, { ...REFUSAL_HEADERS, 'Content-Length': text.length }).end(text)
      return
    }
    if (!request.url!.startsWith('/')) request.url = originForm(request.url!)
    this.#handler(request, response)
  }
}

/**
 * Node accepts such a request and takes the first field; a proxy before it may have taken the other (RFC 9112 §3.2).
 *
 * @param rawHeaders names and values by turns, as received.
 */
function namesHostTwice(rawHeaders: readonly string[]): boolean {
  let isNamed = false
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (isNamed) return true
    isNamed = true
  }
  return false
}

/** The path and query of a target that names its host too, as clients of a proxy send it (RFC 9112 §3.2.2). */
function originForm(target: string): string {
  const rest = target.replace(/^https?:\/\/[^/?]*/i, '')
  return rest === '' || rest.startsWith('?') ? `/${rest}` : rest
}

function answerNotReady(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url!.split('?', 1)[0]
  // The client's body would be read as its next request.
  if (isBodyHeldBack(request)) response.shouldKeepAlive = false
  if (path === '/ready') {
    response.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8' })
    response.end('{"ready":false,"reason":"recovering log"}')
    return
  }
  response.writeHead(503, { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '1' })
  response.end('Service unavailable')
}

/**
 * Requests that Node's parser refuses never reach a handler. Answers leave in the order of the requests, so this one waits for the answers to
 * the requests before it on the connection: a client would take it for the first of them.
 *
 * @see contracts/ingest.md §6, rows 408 and 431
 */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  if (refusedLater.has(socket)) return
  const response = (socket as { _httpMessage?: ServerResponse | null })._httpMessage
  if (response?.req.complete) {
    refusedLater.add(socket)
    response.once('close', () => {
      refusedLater.delete(socket)
      answerClientError(error, socket)
    })
    return
  }
  const [status, text] = CLIENT_ERRORS[error.code ?? ''] ?? ['400 Bad Request', 'Bad Request']
  const fields = Object.entries(REFUSAL_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${status}\r\n${fields.join('')}`
  socket.end(`${head}Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`)
}

const REFUSAL_HEADERS = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }

/** Connections whose last request was refused while an earlier one is in progress. */
const refusedLater = new WeakSet<Socket>()

const CLIENT_ERRORS: Readonly<Record<string, [status: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Request header too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'Request timeout'],
}

function listenText({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use: stop the other program, or set MILLRACE_PORT`
  if (code === 'EACCES')
    return `port ${port} on ${host} is not permitted for this user: set MILLRACE_PORT to 1024 or above`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${host} is not an address of this machine: set MILLRACE_HOST`
  return `cannot listen on ${host}:${port}: ${message}`
}
