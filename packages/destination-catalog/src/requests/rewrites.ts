import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { CapturedRequest } from '../messages.ts'
import { relabelled } from './labels.ts'

/** A captured request, ready to be sent. */
export interface CatalogRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly bodyIsBase64: boolean
  readonly timeoutMs: number
  readonly secrets: readonly string[]
  /** The user agent is ours, and not the definition's choice. */
  readonly hasDefaultUserAgent: boolean
  /** Numbers of the rules that changed it. */
  readonly rules: readonly string[]
}

export interface RewriteOptions {
  readonly slug: string
  readonly config: JsonObject
  /** For requests that name the publisher, or nobody. */
  readonly userAgent: string
  /** Whether `userAgent` is added to another one, so that receivers can recognise tests. */
  readonly isUserAgentAdded: boolean
}

/** The request of the definition, with true addresses and names; or why it must not be sent. */
export type Rewritten = { readonly request: CatalogRequest } | { readonly refused: string }

type Rule = (request: CapturedRequest, options: RewriteOptions) => CapturedRequest

/** Addresses and names that changed after the package was published. Each has a review date. @see contracts/destination-catalog.md §13.1 */
export const REWRITES: Readonly<Record<string, { readonly reviewBy: string; readonly rewrite: Rule }>> = {
  R8: { reviewBy: '2028-06-30', rewrite: memoraHost },
  R10: { reviewBy: '2028-06-30', rewrite: slackSender },
}

/** @see contracts/destination-catalog.md §13 [C16] */
export function rewritten(captured: CapturedRequest, options: RewriteOptions): Rewritten {
  const refused = refusal(captured, options.config)
  if (refused !== undefined) return { refused }
  const rules: string[] = []
  let request = captured
  for (const [number, { rewrite }] of Object.entries(REWRITES)) {
    const changed = rewrite(request, options)
    if (changed !== request) rules.push(number)
    request = changed
  }
  if (options.config['vendorLabels'] !== 'asShipped') {
    const changed = relabelled(options.slug, request)
    if (changed !== request) rules.push('labels')
    request = changed
  }
  const { headers, isDefault } = withUserAgent(request.headers, options)
  if (isDefault && userAgentOf(captured.headers) !== undefined) rules.push('R1')
  return { request: { ...request, headers, hasDefaultUserAgent: isDefault, rules } }
}

const PUBLISHER_HOSTS = ['segment.com', 'segment.io', 'segmentapis.com', 'segment.build', 'kubernetes.default.svc']

/** Guards G1 to G3. */
function refusal({ url, headers }: CapturedRequest, config: JsonObject): string | undefined {
  const address = new URL(url)
  const host = address.hostname.replace(/\.$/, '')
  if (host === 'localhost' || PUBLISHER_HOSTS.some((name) => host === name || host.endsWith(`.${name}`))) {
    return 'request to a refused host'
  }
  if (holdsUnsetValue(address, headers)) return 'request holds an unset value'
  if (address.protocol !== 'https:' && !isInConfig(config, address.origin)) return 'plain http refused'
  return undefined
}

const UNSET: readonly string[] = ['undefined', '[object Object]']

function holdsUnsetValue({ pathname, searchParams }: URL, headers: CapturedRequest['headers']): boolean {
  const parts = [...pathname.split('/').map(decoded), ...searchParams.values()]
  return (
    parts.some((part) => UNSET.includes(part)) || Object.values(headers).some((value) => value.endsWith(' undefined'))
  )
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function isInConfig(value: JsonValue, origin: string): boolean {
  if (typeof value === 'string') return URL.parse(value)?.origin === origin
  if (Array.isArray(value)) return value.some((each) => isInConfig(each, origin))
  return isJsonObject(value) && Object.values(value).some((each) => isInConfig(each, origin))
}

function userAgentOf(headers: CapturedRequest['headers']): string | undefined {
  return Object.keys(headers).find((name) => name.toLowerCase() === 'user-agent')
}

/** R1: the user agent says who sends. One that the event brought is the end user's and stays. */
function withUserAgent(headers: CapturedRequest['headers'], { userAgent, isUserAgentAdded }: RewriteOptions) {
  const name = userAgentOf(headers) ?? 'user-agent'
  const given = headers[name]
  const isDefault = given === undefined || /segment/i.test(given)
  const sent = isDefault ? userAgent : isUserAgentAdded ? `${given} ${userAgent}` : given
  return { headers: { ...headers, [name]: sent }, isDefault }
}

function memoraHost(request: CapturedRequest, { slug }: RewriteOptions): CapturedRequest {
  const staging = 'https://memory.stage.twilio.com/'
  if (slug !== 'memora' || !request.url.startsWith(staging)) return request
  return { ...request, url: `https://memory.twilio.com/${request.url.slice(staging.length)}` }
}

function slackSender(request: CapturedRequest, { slug }: RewriteOptions): CapturedRequest {
  if (slug !== 'slack') return request
  try {
    const { username, icon_url, ...others } = JSON.parse(request.body) as JsonObject
    const isPublisher = username === 'Segment' || icon_url === 'https://logo.clearbit.com/segment.com'
    if (!isPublisher) return request
    const sender: JsonObject = {
      ...(username === undefined ? {} : { username: username === 'Segment' ? 'Millrace' : username }),
      ...(icon_url === undefined || icon_url === 'https://logo.clearbit.com/segment.com' ? {} : { icon_url }),
    }
    return { ...request, body: JSON.stringify({ ...others, ...sender }) }
  } catch {
    return request
  }
}
