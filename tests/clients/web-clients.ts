import path from 'node:path'
import { build } from 'esbuild'
import type { Kind } from './clients.ts'
import { nodeFolder } from './toolchains.ts'

/** A way to have a published web library in a page, and what the suite expects of it. */
export interface WebClient {
  readonly name: string
  readonly version: string
  /** Below docs/clients. */
  readonly page: string
  /** Of the page, for a server and a write key: in the end there is `window.library`. */
  readonly html: (url: string, writeKey: string) => string
  readonly lacks?: readonly Kind[]
  readonly givesUpOn?: readonly (429 | 503)[]
  /** It sends events side by side, so that some overtake others. */
  readonly overtakes?: boolean
  /** Where the library makes something else of a call than the others. */
  readonly sentAs?: Partial<Record<Kind, object>>
  readonly isRepresentative?: boolean
}

/** Its alias keeps the user that it knows. */
const NEXT_ALIAS = { alias: { userId: 'u-88', previousId: 'u-88' } }

export const WEB_LIBRARIES = {
  '@segment/analytics-next': '1.84.3',
  '@rudderstack/analytics-js': '3.34.1',
  'rudder-sdk-js': '2.52.21',
  '@jitsu/js': '1.11.0',
}

/** Modules that make `library` of `url` and `writeKey`; each is bundled as an app would do it. */
const MODULES = {
  'next-cdn-url': `import { AnalyticsBrowser } from '@segment/analytics-next'
    export const library = AnalyticsBrowser.load({ writeKey, cdnURL: url })`,
  'next-cdn-settings': `import { AnalyticsBrowser } from '@segment/analytics-next'
    const [protocol, host] = url.split('://')
    const cdnSettings = { integrations: { 'Segment.io': { apiKey: writeKey, apiHost: host + '/v1', protocol } } }
    export const library = AnalyticsBrowser.load({ writeKey, cdnSettings })`,
  'next-batching': `import { AnalyticsBrowser } from '@segment/analytics-next'
    const deliveryStrategy = { strategy: 'batching', config: { size: 10, timeout: 300 } }
    export const library = AnalyticsBrowser.load({ writeKey, cdnURL: url }, { integrations: { 'Segment.io': { deliveryStrategy } } })`,
  'rudder-3': `import { RudderAnalytics } from '@rudderstack/analytics-js/bundled'
    export const library = new RudderAnalytics()
    library.load(writeKey, url, { configUrl: url })`,
  'rudder-1': `import * as library from 'rudder-sdk-js'
    library.load(writeKey, url, { configUrl: url })
    export { library }`,
  jitsu: `import { jitsuAnalytics } from '@jitsu/js'
    export const library = jitsuAnalytics({ host: url, writeKey: writeKey + ':' + writeKey })`,
} as const

export const WEB_CLIENTS: readonly WebClient[] = [
  {
    name: '@segment/analytics-next by cdnURL',
    version: WEB_LIBRARIES['@segment/analytics-next'],
    page: 'web-analytics-next.md',
    html: bundled('next-cdn-url'),
    sentAs: NEXT_ALIAS,
    overtakes: true,
    isRepresentative: true,
  },
  {
    name: '@segment/analytics-next by cdnSettings',
    version: WEB_LIBRARIES['@segment/analytics-next'],
    page: 'web-analytics-next.md',
    html: bundled('next-cdn-settings'),
    sentAs: NEXT_ALIAS,
    overtakes: true,
  },
  {
    name: '@segment/analytics-next in batches',
    version: WEB_LIBRARIES['@segment/analytics-next'],
    page: 'web-analytics-next.md',
    html: bundled('next-batching'),
    sentAs: NEXT_ALIAS,
  },
  {
    name: 'the classic snippet',
    version: WEB_LIBRARIES['@segment/analytics-next'],
    page: 'web-snippet.md',
    html: snippet,
    sentAs: NEXT_ALIAS,
    overtakes: true,
  },
  {
    name: '@rudderstack/analytics-js/bundled',
    version: WEB_LIBRARIES['@rudderstack/analytics-js'],
    page: 'web-analytics-js.md',
    html: bundled('rudder-3'),
    lacks: ['screen'],
    // One request for each event, several at a time.
    overtakes: true,
  },
  {
    name: 'rudder-sdk-js',
    version: WEB_LIBRARIES['rudder-sdk-js'],
    page: 'web-analytics-js.md',
    html: bundled('rudder-1'),
    lacks: ['screen'],
    overtakes: true,
  },
  {
    name: '@jitsu/js',
    version: WEB_LIBRARIES['@jitsu/js'],
    page: 'web-jitsu.md',
    html: bundled('jitsu'),
    lacks: ['screen', 'alias'],
    // A page has no name of its own there: its title, path and search are properties.
    sentAs: { page: { userId: 'u-88', properties: { part: 'stalls' } } },
    givesUpOn: [429, 503],
    overtakes: true,
  },
]

/** The module as one classic script, by name; below `/bundles/` of the page's server. */
export function bundleOf(name: string): Promise<string> {
  return bundleOfCode(MODULES[name as keyof typeof MODULES])
}

export async function bundleOfCode(contents: string): Promise<string> {
  const folder = await nodeFolder(WEB_LIBRARIES)
  const result = await build({
    stdin: { contents, resolveDir: folder, loader: 'js' },
    absWorkingDir: folder,
    nodePaths: [path.join(folder, 'node_modules')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'made',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  })
  return result.outputFiles[0]!.text
}

function bundled(name: keyof typeof MODULES) {
  return (url: string, writeKey: string) => `<!doctype html><title>Seats</title>
<script>var url = ${JSON.stringify(url)}, writeKey = ${JSON.stringify(writeKey)}</script>
<script src="/bundles/${name}"></script><script>window.library = made.library</script>`
}

/** A stub that keeps calls until the library is there, as a page has it that was set up for another server. */
function snippet(url: string, writeKey: string): string {
  return `<!doctype html><title>Seats</title><script>
!function () {
  var a = (window.analytics = window.analytics || [])
  if (a.initialize) return
  a.methods = ['page', 'track', 'identify', 'group', 'alias', 'screen', 'ready', 'reset', 'on', 'once', 'user', 'register']
  a.methods.forEach(function (name) {
    a[name] = function () {
      if (window.analytics.initialized) return window.analytics[name].apply(window.analytics, arguments)
      a.push([name].concat([].slice.call(arguments)))
      return a
    }
  })
  a.load = function (key) {
    var script = document.createElement('script')
    script.async = true
    script.src = '${url}/analytics.js/v1/' + key + '/analytics.min.js'
    document.head.appendChild(script)
  }
  a._writeKey = '${writeKey}'
  a.SNIPPET_VERSION = '5.2.0'
  a.load('${writeKey}')
}()
Object.defineProperty(window, 'library', { get: function () { return window.analytics } })
</script>`
}
