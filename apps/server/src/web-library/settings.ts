import type { JsonObject } from '@millrace/protocol'

const ALL_ALLOWED = { __default: { enabled: true, integrations: {} } }

/**
 * What the libraries of Segment for the web, Kotlin and Swift ask for before they send. Every member that one of them has
 * a default for is there: the defaults lead to servers of their vendor.
 *
 * @param url where this server is reached, without a slash at its end.
 * @see contracts/ingest.md §8
 */
export function librarySettings(writeKey: string, url: string): JsonObject {
  const [protocol, address] = url.split('://') as [string, string]
  const apiHost = `${address}/v1`
  return {
    integrations: {
      'Segment.io': {
        apiKey: writeKey,
        apiHost,
        protocol,
        retryQueue: true,
        addBundledMetadata: true,
        unbundledIntegrations: [],
        bundledConfigIds: [],
        unbundledConfigIds: [],
        maybeBundledConfigIds: {},
        versionSettings: { version: '4.4.7', componentTypes: ['browser'] },
      },
    },
    plan: {
      track: ALL_ALLOWED,
      identify: { __default: { enabled: true } },
      group: { __default: { enabled: true } },
    },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: { routingRules: [] },
    enabledMiddleware: {},
    // Statistics of the library about itself, which would go to its vendor.
    metrics: { sampleRate: 0, host: apiHost, protocol },
    legacyVideoPluginsEnabled: false,
    remotePlugins: [],
    autoInstrumentationSettings: { sampleRate: 0 },
  }
}
