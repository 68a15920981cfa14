import { judgedAddress } from './addresses.ts'
import { LOG_LEVEL } from './log.ts'
import { isPlainObject } from './plain-json.ts'
import { ServiceClientError } from './results.ts'

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
  readonly app?: AppFacts
  readonly screenNameOf?: (path: string) => unknown
  readonly hasFactories: boolean
  readonly warnings: readonly string[]
}

export interface AppFacts {
  readonly name?: string
  readonly version?: string
  readonly build?: string | number
  readonly namespace?: string
}

const OPTIONS = [
  'logLevel',
  'dataPlaneUrl',
  'flushQueueSize',
  'dbThresholdCount',
  'sleepTimeout',
  'configRefreshInterval',
  'autoCollectAdvertId',
  'trackLifecycleEvents',
  'recordScreenViews',
  'controlPlaneUrl',
  'gzip',
  'autoSessionTracking',
  'sessionTimeout',
  'requireConsent',
  'optOutQueue',
  'collectDeviceId',
  'app',
  'screenNameOf',
  'factories',
] as const

type OptionName = (typeof OPTIONS)[number]

const NAME_OF = new Map<string, OptionName>(OPTIONS.map((name) => [name.toLowerCase(), name] as const))
NAME_OF.set('dbcountthreshold', 'dbThresholdCount')

/**
 * Reads both arguments; corrections become warnings.
 *
 * @throws ServiceClientError INVALID_WRITE_KEY or INVALID_DATA_PLANE_URL
 */
export function readConfiguration(writeKey: unknown, given: unknown): Configuration {
  const warnings: string[] = []
  const warn = (warning: string) => void warnings.push(warning)
  const key = readWriteKey(writeKey)
  const options = optionsOf(given, warn)
  const adjusted = (name: OptionName) => warn(`ADJUSTED_OPTION:${name}`)

  const whole = (name: OptionName, standard: number, least: number, most: number): number => {
    const value = options.get(name)
    if (value === undefined) return standard
    const isText = typeof value === 'string' && value.trim() !== ''
    const number = isText ? Number(value) : value
    if (typeof number !== 'number' || Number.isNaN(number)) {
      adjusted(name)
      return standard
    }
    const clamped = Math.min(most, Math.max(least, Math.floor(number)))
    if (clamped !== value) adjusted(name)
    return clamped
  }
  const truth = (name: OptionName, standard: boolean): boolean => {
    const value = options.get(name)
    if (value === undefined) return standard
    if (value === true || value === 'true') return true
    if (value === false || value === 'false') return false
    adjusted(name)
    return standard
  }
  const ofKind = <T>(name: OptionName, accepts: (value: unknown) => value is T): T | undefined => {
    const value = options.get(name)
    if (value === undefined || accepts(value)) return value
    adjusted(name)
    return undefined
  }

  const dataPlaneUrl = readDataPlaneUrl(options.get('dataPlaneUrl'), warn)
  const app = ofKind('app', isPlainObject)
  const screenNameOf = ofKind('screenNameOf', isFunction)
  const factories = options.get('factories')
  return {
    writeKey: key,
    logLevel: readLogLevel(options.get('logLevel'), () => adjusted('logLevel')),
    dataPlaneUrl,
    controlPlaneUrl: readControlPlaneUrl(options.get('controlPlaneUrl'), dataPlaneUrl, warn),
    flushQueueSize: whole('flushQueueSize', 30, 1, 1_000),
    dbThresholdCount: whole('dbThresholdCount', 10_000, 1, 100_000),
    sleepTimeout: whole('sleepTimeout', 10, 1, 3_600),
    configRefreshInterval: whole('configRefreshInterval', 2, 1, 24),
    autoCollectAdvertId: truth('autoCollectAdvertId', false),
    trackLifecycleEvents: truth('trackLifecycleEvents', true),
    recordScreenViews: truth('recordScreenViews', false),
    gzip: truth('gzip', true),
    autoSessionTracking: truth('autoSessionTracking', true),
    sessionTimeout: whole('sessionTimeout', 300, 1, 86_400),
    requireConsent: truth('requireConsent', false),
    optOutQueue: ofKind('optOutQueue', isOptOutQueue) ?? 'keep',
    collectDeviceId: truth('collectDeviceId', false),
    ...(app && { app: appFacts(app) }),
    ...(screenNameOf && { screenNameOf }),
    hasFactories: Array.isArray(factories) && factories.length > 0,
    warnings,
  }
}

export function readWriteKey(given: unknown): string {
  const key = typeof given === 'string' ? given.trim() : ''
  if (key === '' || /[:\u0000-\u001f\u007f]/.test(key)) {
    throw new ServiceClientError('INVALID_WRITE_KEY', 'the write key of the source is needed as first argument')
  }
  return key
}

/** The options by the name of the table; a spelling of the table wins, else the last one. */
function optionsOf(given: unknown, warn: (warning: string) => void): ReadonlyMap<OptionName, unknown> {
  const options = new Map<OptionName, unknown>()
  if (given === undefined || given === null) return options
  if (!isPlainObject(given)) {
    warn('INVALID_CONFIGURATION')
    return options
  }
  const spellings = new Map<OptionName, string>()
  const repeated = new Set<OptionName>()
  for (const spelling of Object.keys(given)) {
    const name = NAME_OF.get(spelling.toLowerCase())
    if (name === undefined) {
      warn(`UNKNOWN_OPTION:${spelling}`)
      continue
    }
    const earlier = spellings.get(name)
    if (earlier !== undefined) repeated.add(name)
    if (earlier === name) continue
    spellings.set(name, spelling)
    options.set(name, memberOf(given, spelling))
  }
  for (const name of repeated) warn(`DUPLICATE_OPTION:${name}`)
  return options
}

/** A getter of the app's may throw; the option counts as not given then. */
function memberOf(given: Readonly<Record<string, unknown>>, spelling: string): unknown {
  try {
    return given[spelling]
  } catch {
    return undefined
  }
}

function readLogLevel(given: unknown, adjusted: () => void): number {
  if (given === undefined) return LOG_LEVEL.NONE
  const byName = typeof given === 'string' ? LOG_LEVEL[given.trim().toUpperCase() as 'NONE'] : undefined
  const level = byName ?? (typeof given === 'string' && given.trim() !== '' ? Number(given) : given)
  if (typeof level === 'number' && level >= 0 && level <= 5) {
    if (byName === undefined && Math.floor(level) !== given) adjusted()
    return Math.floor(level)
  }
  adjusted()
  return LOG_LEVEL.NONE
}

function readDataPlaneUrl(given: unknown, warn: (warning: string) => void): string {
  const isGiven = given !== undefined && given !== null
  if (!isGiven && HOSTED_DATA_PLANE_URL === '') {
    warn('NO_DATA_PLANE_URL')
    return ''
  }
  const judged = judgedAddress(isGiven ? given : HOSTED_DATA_PLANE_URL)
  if (judged.kind === 'refused') {
    throw new ServiceClientError('INVALID_DATA_PLANE_URL', 'dataPlaneUrl is no http or https address')
  }
  if (judged.isAdjusted) warn('ADJUSTED_OPTION:dataPlaneUrl')
  if (judged.isInsecure) warn('INSECURE_URL')
  return judged.url
}

function readControlPlaneUrl(given: unknown, dataPlaneUrl: string, warn: (warning: string) => void): string {
  if (given === undefined || given === null) return dataPlaneUrl
  const judged = judgedAddress(given)
  if (judged.kind === 'refused') {
    warn('ADJUSTED_OPTION:controlPlaneUrl')
    return dataPlaneUrl
  }
  if (judged.isAdjusted) warn('ADJUSTED_OPTION:controlPlaneUrl')
  if (judged.isInsecure) warn('INSECURE_URL')
  return judged.url
}

function appFacts(given: Readonly<Record<string, unknown>>): AppFacts {
  const facts: Record<string, string | number> = {}
  for (const name of ['name', 'version', 'build', 'namespace']) {
    const value = memberOf(given, name)
    if (typeof value === 'string' || (name === 'build' && typeof value === 'number' && Number.isFinite(value))) {
      facts[name] = value as string | number
    }
  }
  return facts
}

function isFunction(value: unknown): value is (path: string) => unknown {
  return typeof value === 'function'
}

function isOptOutQueue(value: unknown): value is 'keep' | 'purge' {
  return value === 'keep' || value === 'purge'
}
