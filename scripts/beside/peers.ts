import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/*
 * The clients that stand side by side: ours and the public web SDKs that install from npm, each in the version written here, each
 * with its own defaults but for its address, and for what would send events that the page did not record (page views, clicks,
 * recordings, remote configuration).
 */

export interface Peer {
  readonly name: string
  /** Of npm; absent: ours, as the build made it. */
  readonly version?: string
  /** A module that exports `start(url)` and `track(name)`. */
  readonly source: string
}

/** What a page gets, under `globalThis.peer`. */
export interface Bundle {
  readonly peer: Peer
  readonly text: string
  /** Minified by esbuild, gzip level 9. */
  readonly gzipBytes: number
}

const ROOT = path.join(import.meta.dirname, '../..')
const CACHE = path.join(ROOT, 'node_modules/.cache/sdk-peers')
const OURS = path.join(ROOT, 'sdks/cordova/esm/index.js')

export const PEERS: readonly Peer[] = [
  {
    name: 'service-sdk-cordova',
    source: `import { ServiceClient } from ${JSON.stringify(OURS)}
      export const start = (url) => ServiceClient.initialize('key', { dataPlaneUrl: url, trackLifecycleEvents: false })
      export const track = (name) => ServiceClient.track(name, { order_id: 'A-1', total: 39.9 })`,
  },
  {
    name: '@segment/analytics-next',
    version: '1.84.3',
    source: `import { AnalyticsBrowser } from '@segment/analytics-next'
      let analytics
      export const start = (url) => {
        const [protocol, rest] = url.split('://')
        const cdnSettings = { integrations: { 'Segment.io': { apiKey: 'key', apiHost: rest + '/v1', protocol } } }
        analytics = AnalyticsBrowser.load({ writeKey: 'key', cdnURL: url, cdnSettings })
        return analytics
      }
      export const track = (name) => analytics.track(name, { order_id: 'A-1', total: 39.9 })`,
  },
  {
    name: '@rudderstack/analytics-js',
    version: '3.34.1',
    source: `import { RudderAnalytics } from '@rudderstack/analytics-js/bundled'
      const analytics = new RudderAnalytics()
      const source = { id: 'shop', name: 'Shop', writeKey: 'key', enabled: true, workspaceId: 'shop', config: {}, destinations: [] }
      export const start = (url) => new Promise((loaded) => analytics.load('key', url, {
        onLoaded: loaded, configUrl: url, getSourceConfig: () => ({ source, updatedAt: '2026-01-01T00:00:00.000Z' }),
      }))
      export const track = (name) => analytics.track(name, { order_id: 'A-1', total: 39.9 })`,
  },
  {
    name: 'posthog-js',
    version: '1.449.2',
    source: `import posthog from 'posthog-js'
      export const start = (url) => new Promise((loaded) => posthog.init('key', {
        api_host: url, autocapture: false, capture_pageview: false, capture_pageleave: false, disable_session_recording: true,
        advanced_disable_flags: true, disable_surveys: true, disable_external_dependency_loading: true, loaded,
        opt_out_useragent_filter: true,
      }))
      export const track = (name) => posthog.capture(name, { order_id: 'A-1', total: 39.9 })`,
  },
  {
    name: 'mixpanel-browser',
    version: '2.83.0',
    source: `import mixpanel from 'mixpanel-browser'
      export const start = (url) => void mixpanel.init('key', { api_host: url, ignore_dnt: true })
      export const track = (name) => mixpanel.track(name, { order_id: 'A-1', total: 39.9 })`,
  },
  {
    name: '@amplitude/analytics-browser',
    version: '2.47.0',
    source: `import * as amplitude from '@amplitude/analytics-browser'
      export const start = (url) => amplitude.init('key', undefined, {
        serverUrl: url + '/2/httpapi', autocapture: false, fetchRemoteConfig: false, remoteConfig: { fetchRemoteConfig: false },
      }).promise
      export const track = (name) => amplitude.track(name, { order_id: 'A-1', total: 39.9 })`,
  },
  {
    name: '@snowplow/browser-tracker',
    version: '4.10.1',
    source: `import { newTracker, trackStructEvent } from '@snowplow/browser-tracker'
      export const start = (url) => void newTracker('sp', url, { appId: 'shop' })
      export const track = (name) => trackStructEvent({ category: 'shop', action: name, property: 'A-1', value: 39.9 })`,
  },
]

/** @param names those that are wanted; none: all */
export async function bundlePeers(names: readonly string[]): Promise<readonly Bundle[]> {
  const wanted = PEERS.filter(({ name }) => names.length === 0 || names.includes(name))
  execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-sdk.ts')], { stdio: 'ignore' })
  install(wanted)
  return Promise.all(wanted.map(bundle))
}

/** Once, below node_modules: nothing of ours needs them. */
function install(wanted: readonly Peer[]): void {
  mkdirSync(CACHE, { recursive: true })
  if (wanted.every(({ name, version }) => version === undefined || installedVersion(name) === version)) return
  // All of them, because npm removes what it is not told of.
  const packages = PEERS.flatMap(({ name, version }) => (version === undefined ? [] : [`${name}@${version}`]))
  execFileSync(
    'npm',
    ['install', '--prefix', CACHE, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', ...packages],
    {
      stdio: 'ignore',
    },
  )
}

function installedVersion(name: string): string | undefined {
  const manifest = path.join(CACHE, 'node_modules', name, 'package.json')
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined
}

async function bundle(peer: Peer): Promise<Bundle> {
  const { outputFiles } = await build({
    stdin: { contents: peer.source, resolveDir: CACHE, loader: 'js' },
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'peer',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
    logLevel: 'error',
  })
  const text = outputFiles[0]!.text
  return { peer, text, gzipBytes: gzipSync(text, { level: 9 }).length }
}
