import type { CallOptions } from './arguments.ts'
import type { Bridge, EngineSettings, Launch, Opened, Report } from './bridge.ts'
import type { Configuration } from './configuration.ts'
import type { Host } from './host.ts'
import { LifecycleWatch } from './lifecycle-watch.ts'
import { Outbox } from './outbox.ts'
import { Recorder } from './recorder.ts'
import { type SourceCopy, SourceWatch } from './source-watch.ts'
import { uuidOf } from './uuid.ts'
import { SDK_VERSION } from './version.ts'

/** The parts of a client whose store is open. */
export interface Open {
  readonly bridge: Bridge
  readonly configuration: Configuration
  readonly settings: EngineSettings
  readonly recorder: Recorder
  readonly outbox: Outbox
  readonly watch: SourceWatch
  readonly lifecycle: LifecycleWatch
}

export interface OpenEvents {
  readonly onReport: (report: Report) => void
  readonly onCopy: (copy: SourceCopy) => void
  readonly onRejected: (status: number) => void
}

export function assemble(
  host: Host,
  bridge: Bridge,
  configuration: Configuration,
  { integrations, externalIds = {} }: CallOptions,
  { launch, context }: Opened,
  events: OpenEvents,
): Open {
  const { clock, platform } = host
  const { flushQueueSize, sleepTimeout, configRefreshInterval, autoSessionTracking, sessionTimeout, app } =
    configuration
  const recorder = new Recorder({
    channel: platform === 'browser' ? 'web' : 'mobile',
    integrations,
    externalIds,
    sessionTimeoutMs: autoSessionTracking ? sessionTimeout * 1000 : undefined,
    newId: () => uuidOf(host.randomBytes(16)),
  })
  recorder.context.open(context, app)
  recorder.context.see(host.page())
  const { onReport, onCopy, onRejected } = events
  const sleepTimeoutMs = sleepTimeout * 1000
  const refreshMs = configRefreshInterval * 3_600_000
  return {
    bridge,
    configuration,
    settings: engineSettings(configuration),
    recorder,
    outbox: new Outbox({ bridge, clock, flushQueueSize, sleepTimeoutMs, onReport }),
    watch: new SourceWatch({ bridge, clock, refreshMs, onCopy, onRejected }),
    lifecycle: new LifecycleWatch(
      // A page does not know its app, and is told by the option.
      { ...app, ...definedOf(launch), marker: launch.marker },
      launch,
      configuration.trackLifecycleEvents,
      () => clock.now(),
    ),
  }
}

export function engineSettings(configuration: Configuration): EngineSettings {
  const { writeKey, dataPlaneUrl, controlPlaneUrl, flushQueueSize, dbThresholdCount } = configuration
  const { gzip, logLevel, collectDeviceId, requireConsent } = configuration
  return {
    writeKey,
    dataPlaneUrl,
    controlPlaneUrl,
    flushQueueSize,
    dbThresholdCount,
    gzip,
    logLevel,
    collectDeviceId,
    requireConsent,
    sdkVersion: SDK_VERSION,
  }
}

function definedOf({ version, build }: Launch): Pick<Launch, 'version' | 'build'> {
  return { ...(version !== undefined && { version }), ...(build !== undefined && { build }) }
}
