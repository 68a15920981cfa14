import type { CallOptions } from './arguments.ts'
import type { Bridge, EngineSettings, Opened } from './bridge.ts'
import type { Configuration } from './configuration.ts'
import type { Host } from './host.ts'
import { type LifecycleWatch, watchLifecycle } from './lifecycle-watch.ts'
import { newOutbox, type Outbox, type OutboxOptions } from './outbox.ts'
import { newRecorder, type Recorder } from './recorder.ts'
import { type SourceWatch, type SourceWatchOptions, watchSource } from './source-watch.ts'
import { picked } from './state-changes.ts'
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

export type OpenEvents = Pick<OutboxOptions, 'onReport'> & Pick<SourceWatchOptions, 'copy' | 'onCopy' | 'onRejected'>

export function assemble(
  { clock, platform, page, randomBytes }: Host,
  bridge: Bridge,
  configuration: Configuration,
  { integrations, externalIds = {} }: CallOptions,
  { launch, context }: Opened,
  { onReport, copy, onCopy, onRejected }: OpenEvents,
): Open {
  const { flushQueueSize, sleepTimeout, configRefreshInterval, autoSessionTracking, sessionTimeout } = configuration
  // A page does not know its app, and is told by the option.
  const { app = {}, trackLifecycleEvents } = configuration
  const { version = app.version, build = app.build, marker } = launch
  const recorder = newRecorder({
    channel: platform === 'browser' ? 'web' : 'mobile',
    integrations,
    externalIds,
    sessionTimeoutMs: autoSessionTracking ? sessionTimeout * 1000 : 0,
    newId: () => uuidOf(randomBytes(16)),
  })
  recorder.context.open(context, configuration.app)
  recorder.context.see(page())
  const refreshMs = configRefreshInterval * 3_600_000
  return {
    bridge,
    configuration,
    settings: engineSettings(configuration),
    recorder,
    outbox: newOutbox({ bridge, clock, flushQueueSize, sleepTimeoutMs: sleepTimeout * 1000, onReport }),
    watch: watchSource({ bridge, clock, refreshMs, copy, onCopy, onRejected }),
    lifecycle: watchLifecycle({ version, build, marker }, launch, trackLifecycleEvents, () => clock.now()),
  }
}

const SETTINGS = [
  'writeKey',
  'dataPlaneUrl',
  'controlPlaneUrl',
  'flushQueueSize',
  'dbThresholdCount',
  'gzip',
  'logLevel',
  'collectDeviceId',
  'requireConsent',
] as const

export function engineSettings(configuration: Configuration): EngineSettings {
  const settings: Pick<Configuration, (typeof SETTINGS)[number]> = picked(configuration, SETTINGS)
  return Object.assign({ sdkVersion: SDK_VERSION }, settings)
}
