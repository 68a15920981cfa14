import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'

/** Where requests of an entry name their source, and what becomes of that. */
type Label =
  | {
      readonly body: string
      readonly action: 'change' | 'millrace' | 'remove'
      /** The package writes it among the properties of the event. */
      readonly isInProperties?: true
    }
  | { readonly body: string; readonly prefix: string }
  | { readonly header: string }
  | { readonly query: string }

const change = (...members: string[]): Label[] => members.map((body) => ({ body, action: 'change' }))

const SOURCES: readonly Label[] = [
  { body: 'source', action: 'millrace' },
  { body: 'src', action: 'millrace' },
]

/**
 * Requests of these entries name the publisher of the package as their source, which is not true here.
 *
 * @see contracts/destination-catalog.md §13.2 [C41]
 */
const LABELS: Readonly<Record<string, readonly Label[]>> = {
  amplitude: change('library', 'requester'),
  'amplitude-cohorts': change('library', 'requester'),
  airship: [{ body: 'source', action: 'change', isInProperties: true }],
  altertable: change('$lib'),
  clevertap: change('source'),
  loops: change('source'),
  launchpad: change('source'),
  koala: SOURCES,
  hyperengage: SOURCES,
  usermaven: SOURCES,
  'angler-ai': SOURCES,
  mixpanel: [
    { body: '$source', action: 'change' },
    { body: 'mp_lib', prefix: 'Segment Actions: ' },
  ],
  heap: [{ body: 'segment_library', action: 'remove' }],
  'magellan-ai': change('host'),
  devrev: change('devrev_source_identifier'),
  vwo: [...change('integration'), { query: 'integration' }],
  'optimizely-feature-experimentation-actions': change('client_name'),
  'optimizely-web': change('client_name'),
  'pinterest-conversions': [{ body: 'partner_name', action: 'remove' }],
  qualtrics: [{ header: 'internal-service' }],
  insider: [...change('platform'), { header: 'x-platform-name' }],
  'insider-audiences': [...change('platform'), { header: 'x-platform-name' }],
  fullstory: [{ header: 'integration-source' }],
  gameball: [{ header: 'x-gb-agent' }],
  usermotion: [{ header: 'x-source' }],
  kevel: [{ header: 'x-adzerk-sdk-version' }],
  absmartly: [{ header: 'x-agent' }],
  'tiktok-conversions': [{ body: 'partner_name', action: 'remove' }],
  'tiktok-offline-conversions': [{ body: 'partner_name', action: 'remove' }],
  'tiktok-app-events': [{ body: 'partner_name', action: 'remove' }],
  'reddit-conversions-api': [{ body: 'partner', action: 'remove' }],
  'ms-bing-capi': [{ body: 'dataProvider', action: 'remove' }],
  'nextdoor-capi': [{ body: 'partner_id', action: 'remove' }],
}

export function hasLabels(slug: string): boolean {
  return Object.hasOwn(LABELS, slug)
}

/** The name in the letter case in which it stands. */
export function renamed(text: string): string {
  return text.replace(/segment/gi, (found) => {
    if (found === found.toUpperCase()) return 'MILLRACE'
    return found[0] === 'S' ? 'Millrace' : 'millrace'
  })
}

export interface LabelledRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The request with true labels; the same object if there is none to change. */
export function relabelled<T extends LabelledRequest>(slug: string, request: T): T {
  let { url, headers, body } = request
  for (const label of LABELS[slug] ?? []) {
    if ('header' in label) headers = withHeader(headers, label.header)
    else if ('query' in label) url = withQuery(url, label.query)
    else body = withBody(body, label)
  }
  const isSame = url === request.url && headers === request.headers && body === request.body
  return isSame ? request : { ...request, url, headers, body }
}

function withHeader(headers: LabelledRequest['headers'], name: string): LabelledRequest['headers'] {
  const found = Object.keys(headers).find((each) => each.toLowerCase() === name)
  return found === undefined ? headers : { ...headers, [found]: renamed(headers[found]!) }
}

function withQuery(url: string, name: string): string {
  const parsed = URL.parse(url)
  const value = parsed?.searchParams.get(name)
  if (!parsed || typeof value !== 'string' || renamed(value) === value) return url
  parsed.searchParams.set(name, renamed(value))
  return parsed.href
}

function withBody(body: string, label: Extract<Label, { body: string }>): string {
  // Most bodies name nothing, and parsing is the expensive part.
  if (!body.includes(`"${label.body}"`)) return body
  let parsed: JsonValue
  try {
    parsed = JSON.parse(body) as JsonValue
  } catch {
    return body
  }
  return relabel(parsed, label) ? JSON.stringify(parsed) : body
}

/** Changes the member wherever it stands, but not below members that hold the user's own data. */
function relabel(value: JsonValue, label: Extract<Label, { body: string }>): boolean {
  if (Array.isArray(value)) return value.map((each) => relabel(each, label)).some((isChanged) => isChanged)
  if (!isJsonObject(value)) return false
  let isChanged = relabelMember(value, label)
  for (const [name, member] of Object.entries(value)) {
    const isUserData = USER_DATA.has(name) && !('isInProperties' in label)
    if (!isUserData && relabel(member, label)) isChanged = true
  }
  return isChanged
}

const USER_DATA = new Set(['properties', 'traits', 'event_properties', 'user_properties', 'eventProperties', '$set'])

function relabelMember(holder: JsonObject, label: Extract<Label, { body: string }>): boolean {
  const value = holder[label.body]
  if (typeof value !== 'string') return false
  if ('prefix' in label) {
    if (!value.startsWith(label.prefix)) return false
    holder[label.body] = value.slice(label.prefix.length)
    return true
  }
  // A value of the user's own is not the publisher's name. A member may itself be called after the publisher.
  if (!/segment/i.test(value) && !/segment/i.test(label.body)) return false
  if (label.action === 'remove') delete holder[label.body]
  else holder[label.body] = label.action === 'millrace' ? 'millrace' : renamed(value)
  return true
}
