import { type OutboundClient, unlessLost } from '@millrace/delivery'
import type { Clock } from '@millrace/std'
import type { TransformAnswer, TransformFetch, TransformRequest } from '@millrace/transformations'
import { FETCH_TIMEOUT_MS, MAX_FETCH_ANSWER_BYTES } from '@millrace/transformations/limits'
import type { TransformClients } from './transform-clients.ts'
import { uncompressed } from './uncompressed.ts'

/** Limits of the outbound client for user code. */
export const TRANSFORM_CLIENT_BOUNDS = { callTimeoutMs: FETCH_TIMEOUT_MS, maxAnswerBytes: MAX_FETCH_ANSWER_BYTES }

/**
 * Serves `fetch` and `fetchV2` of user code. Requests go through the same egress guard as deliveries. No address counts as
 * configured, so user code can never reach loopback.
 *
 * @param version of this product, for the User-Agent.
 * @see contracts/transformations.md §4
 */
export function transformFetch(clients: TransformClients, version: string, clock: Clock): TransformFetch {
  const userAgent = `Millrace-Transform/${version}`
  return (request, signal, key = '') => {
    const method = request.method.toUpperCase()
    if (!METHODS.includes(method)) return Promise.resolve(failed(`method ${method.slice(0, 20)} is not supported`))
    const { promise, resolve } = Promise.withResolvers<TransformAnswer>()
    const abort = clients.send(
      key,
      {
        method,
        url: request.url,
        headers: sentHeaders(request.headers, userAgent),
        body: request.body ?? '',
        secretHeaders: secretNames(request.headers),
        configuredOrigin: undefined,
      },
      (result) => {
        timer?.cancel()
        signal.removeEventListener('abort', abort)
        void answerOf(request, result).then(resolve)
      },
    )
    const { timeoutMs } = request
    const timer =
      timeoutMs === undefined
        ? undefined
        : clock.setTimer(() => {
            resolve(failed(`no answer within ${timeoutMs} ms`))
            abort()
          }, timeoutMs)
    signal.addEventListener('abort', abort, { once: true })
    return promise
  }
}

type Result = Parameters<Parameters<OutboundClient['send']>[1]>[0]

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

async function answerOf({ url }: TransformRequest, ended: Result): Promise<TransformAnswer> {
  const result = unlessLost(ended)
  switch (result.kind) {
    case 'answer': {
      const headers = plainHeaders(result.headers)
      const body = result.isCut ? 'too large' : await uncompressed(result.bytes, headers['content-encoding'])
      if (body === 'too large') return failed('response is larger than 1 MB')
      if (body === 'unreadable') return failed('response cannot be decompressed')
      // The decoder strips a byte order mark, which JSON.parse rejects.
      const text = new TextDecoder().decode(body)
      return { ok: true, url: URL.parse(url)?.href ?? url, status: result.status, headers, body: text }
    }
    case 'refused':
      return failed(refusalText(result))
    case 'no_answer':
    case 'unauthorised':
      return failed(isUnresolved(result.text) ? `unable to resolve IP address for ${hostOf(url)}` : result.text)
    case 'aborted':
      return failed('aborted')
  }
}

function refusalText({ refusal, text }: Extract<Result, { kind: 'refused' }>): string {
  switch (refusal.reason) {
    case 'scheme':
      return 'invalid protocol, only http and https are supported'
    case 'literal address':
      return `blocked request to non-public address: ${refusal.address}`
    case 'resolved address':
      return `cannot use ${refusal.address} as IP address for ${refusal.hostname}`
    case 'denied host':
      return 'blocked host requests are not allowed'
    case 'malformed URL':
      return 'invalid URL'
    case 'malformed request':
      return text
  }
}

function failed(message: string): TransformAnswer {
  return { ok: false, message }
}

/** Matches the error texts of failed DNS lookups (contracts/test-api.md §6). */
function isUnresolved(text: string): boolean {
  return text.startsWith('[ENOTFOUND]') || text.startsWith('[EAI_AGAIN]')
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? url
}

/** User code cannot set User-Agent or Host: the guard checks the host in the URL. */
function sentHeaders(headers: Readonly<Record<string, string>>, userAgent: string): Record<string, string> {
  const given = Object.entries(headers).filter(([name]) => !['user-agent', 'host'].includes(name.toLowerCase()))
  return Object.fromEntries([...given, ['user-agent', userAgent]])
}

/** Every header may be secret, except those that describe content. */
function secretNames(headers: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  return names.filter((name) => !['accept', 'accept-language', 'content-type'].includes(name))
}

function plainHeaders(headers: Extract<Result, { kind: 'answer' }>['headers']): Record<string, string> {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? value : value.join(', ')]))
}
