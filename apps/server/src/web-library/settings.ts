import type { JsonObject } from '@millrace/protocol'

const ALL_ALLOWED = { __default: { enabled: true, integrations: {} } }

/**
 * The settings that Segment's libraries for the web, Kotlin and Swift fetch before they send. It contains every member
 * for which one of them has a default: the defaults lead to servers of the vendor.
 *
 * @param url address of this server, without a trailing slash.
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
    // Statistics of the library about itself, which would go to the vendor.
    metrics: { sampleRate: 0, host: apiHost, protocol },
    legacyVideoPluginsEnabled: false,
    remotePlugins: [],
    autoInstrumentationSettings: { sampleRate: 0 },
  }
}
