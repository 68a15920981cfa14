import type { EngineSettings } from '../bridge.ts'
import { ServiceClientError } from '../calls/results.ts'
import { LOG_LEVEL } from '../log.ts'
import { picked } from '../state-changes.ts'
import { isPlainObject, unboxed } from '../text/plain-json.ts'
import { SDK_VERSION } from '../version.ts'
import { addressOf } from './addresses.ts'

/** Empty in this build: there is no hosted data plane, so an app names its own. */
const HOSTED_DATA_PLANE_URL: string = ''

/** The second argument of `initialize`, read. @see contracts/cordova-sdk.md §3 */
export interface Configuration {
  readonly writeKey: string
  readonly logLevel: number
  readonly dataPlaneUrl: string
  readonly controlPlaneUrl: string
  readonly flushQueueSize: number
  readonly dbThresholdCount: number
  /** Seconds, as are the other times that an app gives. */
  readonly sleepTimeout: number
  /** Hours. */
  readonly configRefreshInterval: number
  readonly autoCollectAdvertId: boolean
  readonly trackLifecycleEvents: boolean
  readonly recordScreenViews: boolean
  readonly gzip: boolean
  readonly autoSessionTracking: boolean
  readonly sessionTimeout: number
  readonly requireConsent: boolean
  readonly optOutQueue: 'keep' | 'purge'
  readonly collectDeviceId: boolean
  readonly app?: AppFacts | undefined
  readonly screenNameOf?: ((path: string) => unknown) | undefined
  /** There are some. */
  readonly factories?: boolean
  readonly warnings: readonly string[]
}

export interface AppFacts {
  readonly name?: string
  readonly version?: string
  readonly build?: string | number
  readonly namespace?: string
}

type Warn = (warning: string) => void

/** @param adjusted says that the value counts as another one. @returns undefined when it is unusable. */
type Read = (value: unknown, adjusted: () => void, warn: Warn) => unknown

const whole =
  (least: number, most: number): Read =>
  (value, adjusted) => {
    const number = typeof value === 'string' && value.trim() ? +value : value
    if (typeof number !== 'number') return undefined
    const clamped = Math.min(most, Math.max(least, Math.floor(number)))
    if (clamped !== value) adjusted()
    // Not so of NaN.
    return clamped >= least ? clamped : undefined
  }

const truth: Read = (value) =>
  value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined

const logLevel: Read = (value, adjusted, warn) => {
  const named = typeof value === 'string' ? LOG_LEVEL[value.trim().toUpperCase() as 'NONE'] : undefined
  if (named !== undefined) return named
  const level = whole(-1, 6)(value, adjusted, warn) as number
  return level >= 0 && level <= 5 ? level : undefined
}

const address: Read = (value, adjusted, warn) => {
  const { url, isAdjusted } = addressOf(value)
  if (isAdjusted) adjusted()
  if (/^http:/.test(url as string)) warn('INSECURE_URL')
  return url
}

/** Where client libraries of others fetch their configuration: an address left over from them is not told our write key. */
const FOREIGN_HOST = /[/.](rudder(labs|stack)\.com|segment\.(com|io))/

const controlPlaneAddress: Read = (value, adjusted, warn) => {
  const url = address(value, adjusted, warn)
  return FOREIGN_HOST.test(url as string) ? undefined : url
}

const dataPlaneAddress: Read = (value, adjusted, warn) => {
  const url = address(value, adjusted, warn)
  if (url) return url
  throw new ServiceClientError('INVALID_DATA_PLANE_URL', 'dataPlaneUrl')
}

const appFacts: Read = (value) => {
  if (!isPlainObject(value)) return undefined
  const facts: Record<string, unknown> = {}
  for (const name of ['name', 'version', 'build', 'namespace']) {
    const fact = memberOf(value, name)
    if (typeof fact === 'string' || Number.isFinite(fact)) facts[name] = fact
  }
  return facts
}

/** Each option, what it is when it is not given, and how it is read. */
const OPTIONS: Readonly<Record<string, readonly [standard: unknown, read: Read]>> = {
  dataPlaneUrl: [HOSTED_DATA_PLANE_URL, dataPlaneAddress],
  controlPlaneUrl: ['', controlPlaneAddress],
  logLevel: [LOG_LEVEL.NONE, logLevel],
  flushQueueSize: [30, whole(1, 1_000)],
  dbThresholdCount: [10_000, whole(1, 100_000)],
  sleepTimeout: [10, whole(1, 3_600)],
  configRefreshInterval: [2, whole(1, 24)],
  autoCollectAdvertId: [false, truth],
  trackLifecycleEvents: [true, truth],
  recordScreenViews: [false, truth],
  gzip: [true, truth],
  autoSessionTracking: [true, truth],
  sessionTimeout: [300, whole(1, 86_400)],
  requireConsent: [false, truth],
  optOutQueue: ['keep', (value) => (value === 'keep' || value === 'purge' ? value : undefined)],
  collectDeviceId: [false, truth],
  app: [undefined, appFacts],
  screenNameOf: [undefined, (value) => (typeof value === 'function' ? value : undefined)],
  factories: [undefined, (value) => Array.isArray(value) && value.length > 0],
}

const NAME_OF = new Map(Object.keys(OPTIONS).map((name) => [name.toLowerCase(), name]))
NAME_OF.set('dbcountthreshold', 'dbThresholdCount')

/**
 * Corrections become warnings.
 *
 * @param writeKey as readWriteKey answers it.
 * @throws ServiceClientError INVALID_DATA_PLANE_URL
 */
export function readConfiguration(writeKey: string, given: unknown): Configuration {
  const warnings: string[] = []
  const warn = (warning: string) => void (warnings.includes(warning) || warnings.push(warning))
  const values = valuesOf(given, warn)
  const options: Record<string, unknown> = { writeKey, warnings }
  for (const [name, [standard, read]] of Object.entries(OPTIONS)) {
    const value = values[name]
    const isGiven = value !== undefined && !(value === null && name.endsWith('PlaneUrl'))
    const adjusted = () => warn(`ADJUSTED_OPTION:${name}`)
    const option = isGiven ? read(value, adjusted, warn) : undefined
    if (isGiven && option === undefined) adjusted()
    options[name] = option === undefined ? standard : option
  }
  const configuration = options as unknown as Configuration
  if (!configuration.dataPlaneUrl) warn('NO_DATA_PLANE_URL')
  return { ...configuration, controlPlaneUrl: configuration.controlPlaneUrl || configuration.dataPlaneUrl }
}

/** @throws ServiceClientError INVALID_WRITE_KEY */
export function readWriteKey(given: unknown): string {
  const text = unboxed(given)
  const key = typeof text === 'string' ? text.trim() : ''
  if (!key || /[:\0-\x1f\x7f]/.test(key)) {
    throw new ServiceClientError('INVALID_WRITE_KEY', 'writeKey')
  }
  return key
}

/** The options by the name of the table; a spelling of the table wins, else the last one. */
function valuesOf(given: unknown, warn: Warn): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  if (given === undefined || given === null) return values
  if (!isPlainObject(given)) {
    warn('INVALID_CONFIGURATION')
    return values
  }
  const spellings: Record<string, string> = {}
  const repeated = new Set<string>()
  for (const spelling of Object.keys(given)) {
    const name = NAME_OF.get(spelling.toLowerCase())
    if (!name) {
      warn(`UNKNOWN_OPTION:${spelling}`)
      continue
    }
    if (spellings[name]) repeated.add(name)
    if (spellings[name] === name) continue
    spellings[name] = spelling
    values[name] = memberOf(given, spelling)
  }
  for (const name of repeated) warn(`DUPLICATE_OPTION:${name}`)
  return values
}

/** A getter of the app's may throw; the option counts as not given then. */
function memberOf(given: Readonly<Record<string, unknown>>, name: string): unknown {
  try {
    return unboxed(given[name])
  } catch {
    return undefined
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
  return { sdkVersion: SDK_VERSION, ...picked(configuration, SETTINGS) }
}
