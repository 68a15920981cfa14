import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, Server, type Socket } from 'node:net'

const MAX_HEADER_BYTES = 64 * 1024
/** Of a whole request on any route; ingest has its own, shorter limit for bodies. */
const REQUEST_TIMEOUT_MS = 60_000
const HEADERS_TIMEOUT_MS = 30_000
/** Longer than the idle time of common load balancers, so that it is they who close. */
const KEEP_ALIVE_MS = 65_000

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** The port is taken, or the address is not one of this machine. */
export class ListenError extends Error {
  override name = 'ListenError'
  readonly code = 'LISTEN'
}

/**
 * The one listening socket. It answers from the first moment: until the product is recovered, that it is not ready yet;
 * while it stops, what is in progress.
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
    // A client that holds its body back is told to send it by the code that wants it.
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
   * Takes no new connections. Whoever asks on one that is open is answered until the rest of the server has finished, so
   * that /ready can say why; then what is in progress is waited for, at most until `deadline`.
   */
  async stop(finished: Promise<unknown>, deadline: Promise<void>): Promise<void> {
    this.#isStopping = true
    // The close of an HTTP server would also end the idle connections.
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

  /** Takes nothing more, and waits for nothing. */
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
    this.#handler(request, response)
  }
}

function answerNotReady({ url, headers }: IncomingMessage, response: ServerResponse): void {
  const path = url!.split('?', 1)[0]
  // A body that the client holds back would be taken for its next request.
  if (headers.expect !== undefined) response.shouldKeepAlive = false
  if (path === '/ready') {
    response.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8' })
    response.end('{"ready":false,"reason":"recovering log"}')
    return
  }
  response.writeHead(503, { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '1' })
  response.end('Service unavailable')
}

/** What Node's parser refuses never becomes a request. @see contracts/ingest.md §6, rows 408 and 431 */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, text] = CLIENT_ERRORS[error.code ?? ''] ?? ['400 Bad Request', 'Bad Request']
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n`
  socket.end(`${head}Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`)
}

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
