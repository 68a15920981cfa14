import { EgressRules, HostNames, OutboundClient, type OutboundRequest } from '../../packages/delivery/src/index.ts'
import { type Answered, sendOnce } from '../../packages/pipeline/src/index.ts'
import { systemClock } from '../../packages/std/src/index.ts'

const TIMEOUT_MS = 30_000
/** As much of an answer as live traffic judges. */
const MAX_ANSWER_BYTES = 1024 * 1024
/** The addresses are those of the writer, who may have a sandbox on this machine or in a private network. */
const EVERY_ADDRESS = '0.0.0.0/0,::/0'

/** Sends requests by the client of live traffic: with access tokens, client certificates and redirects. */
export class LiveSender implements AsyncDisposable {
  readonly #names = new HostNames({ clock: systemClock })
  readonly #client = new OutboundClient({
    rules: new EgressRules({ allow: EVERY_ADDRESS, deny: undefined, listenHost: '127.0.0.1' }),
    clock: systemClock,
    callTimeoutMs: TIMEOUT_MS,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    lookup: this.#names.forDestination(),
  })
  readonly #origin: string | undefined

  /** @param origin where to send instead of the address of the service and of its token endpoint. */
  constructor(origin: string | undefined) {
    this.#origin = origin
  }

  async send(request: OutboundRequest): Promise<Answered> {
    const sent = this.#origin === undefined ? request : elsewhere(request, this.#origin)
    const { value } = await sendOnce([sent], this.#client, AbortSignal.timeout(TIMEOUT_MS)).next()
    return value!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close()
    this.#names.close()
  }
}

/** The request at another server. Its parts are read by name: some exist only when asked for. */
function elsewhere(request: OutboundRequest, origin: string): OutboundRequest {
  const { method, url, headers, body, secretHeaders, credentials } = request
  const grant = credentials?.grant
  return {
    method,
    url: at(url, origin),
    headers,
    body,
    secretHeaders,
    configuredOrigin: origin,
    credentials: credentials && {
      ...credentials,
      grant: grant && { ...grant, tokenUrl: at(grant.tokenUrl, origin), configuredOrigin: origin },
    },
    noteSecret: (value) => request.noteSecret?.(value),
  }
}

function at(url: string, origin: string): string {
  const { pathname, search } = new URL(url)
  return `${origin.replace(/\/$/, '')}${pathname}${search}`
}
