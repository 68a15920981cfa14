import type { CallOptions } from './arguments.ts'
import type { Bridge, EngineSettings, Opened } from './bridge.ts'
import type { Configuration } from './configuration.ts'
import type { Host } from './host.ts'
import { type LifecycleWatch, watchLifecycle } from './lifecycle-watch.ts'
import { newOutbox, type Outbox } from './outbox.ts'
import { newRecorder, type Recorder } from './recorder.ts'
import { type SourceEvents, type SourceWatch, watchSource } from './source-watch.ts'
import { picked } from './state-changes.ts'
import { SDK_VERSION } from './version.ts'

/** The parts of a client whose store is open. */
export interface Open {
  readonly bridge: Bridge
  readonly configuration: Configuration
  readonly recorder: Recorder
  readonly outbox: Outbox
  readonly watch: SourceWatch
  readonly lifecycle: LifecycleWatch
}

export function assemble(
  host: Host,
  bridge: Bridge,
  configuration: Configuration,
  options: CallOptions,
  { launch, context }: Opened,
  onReport: (report: Opened['report']) => void,
  sourceEvents: SourceEvents,
): Open {
  const { clock } = host
  const recorder = newRecorder(host, configuration, options)
  recorder.context.open(context, configuration.app)
  recorder.context.see(host.page())
  return {
    bridge,
    configuration,
    recorder,
    outbox: newOutbox(bridge, clock, configuration, onReport),
    watch: watchSource(bridge, clock, configuration, sourceEvents),
    lifecycle: watchLifecycle(configuration, launch, clock),
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
  return Object.assign({ sdkVersion: SDK_VERSION }, picked(configuration, SETTINGS))
}
