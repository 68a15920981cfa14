import type { Clock } from '../core/clock.ts'

const TOTAL_MS = 30_000
const CONFIG_MS = 10_000
/** Browsers allow 64 KiB for all keepalive requests of a page together. */
export const KEEPALIVE_BYTES = 60 * 1024

export interface Request {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
  /** Of the body. */
  readonly bytes?: number
  /** Bytes of the answer's text that are read. */
  readonly reads: number
}

export interface Answer {
  readonly status: number
  header(name: string): string | null
  /** undefined when it is longer than was to be read. */
  readonly text: string | undefined
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** fetch with bounds: of time, of the answer, and of what is under way when the page is left. */
export class Transport {
  private readonly fetch: Fetch
  private readonly clock: Clock
  private readonly underWay = new Set<AbortController>()
  private keepaliveBytes = 0

  constructor(fetch: Fetch, clock: Clock) {
    this.fetch = fetch
    this.clock = clock
  }

  /** Bytes that may still go with a page that is left. */
  get keepaliveLeft(): number {
    return KEEPALIVE_BYTES - this.keepaliveBytes
  }

  /** @returns undefined without an answer. Nothing is awaited before the request is under way. */
  async send({ url, method, headers, body, bytes = 0, reads }: Request): Promise<Answer | undefined> {
    const controller = new AbortController()
    this.underWay.add(controller)
    const cancel = this.clock.after(method === 'GET' ? CONFIG_MS : TOTAL_MS, () => controller.abort())
    const keepalive = bytes > 0 && bytes <= this.keepaliveLeft
    if (keepalive) this.keepaliveBytes += bytes
    try {
      const response = await this.fetch(url, {
        method,
        headers,
        ...(body !== undefined && { body }),
        keepalive,
        credentials: 'omit',
        redirect: 'manual',
        signal: controller.signal,
      })
      // A redirect that is not followed shows neither its status nor its address to a page.
      const status = response.type === 'opaqueredirect' ? 302 : response.status
      const text = await textWithin(response, reads)
      return { status, header: (name) => response.headers.get(name), text }
    } catch {
      return undefined
    } finally {
      cancel()
      this.underWay.delete(controller)
      if (keepalive) this.keepaliveBytes -= bytes
    }
  }

  abort(): void {
    for (const controller of this.underWay) controller.abort()
  }
}

async function textWithin(response: Response, limitBytes: number): Promise<string | undefined> {
  if (!response.body) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > limitBytes) {
      await reader.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}
