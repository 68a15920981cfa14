import type { Clock } from '../core/clock.ts'

const TOTAL_MS = 30_000
const CONFIG_MS = 10_000
/** Browsers allow 64 KiB for all keepalive requests of a page together. */
export const KEEPALIVE_BYTES = 60 * 1024

export interface Answer {
  readonly httpStatus: number
  header(name: string): string | null
  /** undefined when it is longer than was to be read. */
  readonly answerText: string | undefined
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type Http = ReturnType<typeof newHttp>

export type Body = string | Uint8Array<ArrayBuffer>

/** fetch with bounds: of time, of the answer, and of what is under way when the page is left. */
export function newHttp(fetch: Fetch, clock: Clock) {
  const underWay = new Set<AbortController>()
  let left = KEEPALIVE_BYTES

  return {
    /** Bytes that may still go with a page that is left. */
    keepaliveLeft: () => left,

    /**
     * A POST when there is a body.
     *
     * @param reads bytes of the answer's text that are read. @param bytes of the body.
     * @returns undefined without an answer. Nothing is awaited before the request is under way.
     */
    async send(
      url: string,
      headers: Readonly<Record<string, string>>,
      reads: number,
      body: Body | null = null,
      bytes = 0,
    ): Promise<Answer | undefined> {
      const controller = new AbortController()
      underWay.add(controller)
      const cancel = clock.after(body ? TOTAL_MS : CONFIG_MS, () => controller.abort())
      const taken = bytes <= left ? bytes : 0
      left -= taken
      try {
        const response = await fetch(url, {
          method: body ? 'POST' : 'GET',
          headers,
          body,
          keepalive: taken > 0,
          credentials: 'omit',
          redirect: 'manual',
          signal: controller.signal,
        })
        // A redirect that is not followed shows neither its status nor its address to a page.
        const httpStatus = response.type === 'opaqueredirect' ? 302 : response.status
        return {
          httpStatus,
          header: (name) => response.headers.get(name),
          answerText: await textWithin(response, reads),
        }
      } catch {
        return undefined
      } finally {
        cancel()
        underWay.delete(controller)
        left += taken
      }
    },

    abort() {
      for (const controller of underWay) controller.abort()
    },
  }
}

async function textWithin({ body }: Response, limitBytes: number): Promise<string | undefined> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    if (bytes > limitBytes) return void reader.cancel()
    text += decoder.decode(value, { stream: true })
  }
  return text
}
