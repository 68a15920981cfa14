import { type Corrected, dataAndOptions, readData, readOptions, requiredText } from './arguments.ts'
import { Client } from './client.ts'
import type { Host } from './host.ts'
import { LOG_LEVEL, WARN } from './log.ts'
import type { CallResult, FlushResult, InitResult, Status } from './results.ts'
import { utf8Length } from './utf8.ts'

const LONGEST_ANONYMOUS_ID_BYTES = 128

/** What apps call. Every method works without `this`, none throws, and none but `initialize` rejects. */
export interface ServiceClientMethods {
  readonly LogLevel: typeof LOG_LEVEL
  initialize(writeKey: unknown, configuration?: unknown, options?: unknown): Promise<InitResult>
  identify(userId: unknown, traits?: unknown, options?: unknown): Promise<CallResult>
  track(name: unknown, properties?: unknown, options?: unknown): Promise<CallResult>
  group(groupId: unknown, traits?: unknown, options?: unknown): Promise<CallResult>
  screen(name: unknown, properties?: unknown, options?: unknown): Promise<CallResult>
  alias(newId: unknown, options?: unknown): Promise<CallResult>
  reset(renewAnonymousId?: unknown): Promise<CallResult>
  optOut(isOptOut: unknown): Promise<CallResult>
  putAnonymousId(id: unknown): Promise<CallResult>
  putAdvertisingId(id: unknown): Promise<CallResult>
  putDeviceToken(token: unknown): Promise<CallResult>
  setAnonymousId(id: unknown): Promise<CallResult>
  setAdvertisingId(id: unknown): Promise<CallResult>
  flush(): Promise<FlushResult>
  getStatus(): Promise<Status>
}

/** Reads the arguments of each call, at the time of the call, and hands it to the client. */
export function serviceClient(host: Host): ServiceClientMethods {
  const client = new Client(host)
  const warned = new Set<string>()

  const corrected =
    (method: string): Corrected =>
    (what) =>
      client.log.write(WARN, `${method}: ${what}`)

  const invalid = (method: string): Promise<CallResult> => {
    client.count('invalid')
    client.log.write(WARN, `${method}: an argument is missing or cannot be used; the call was dropped`)
    return Promise.resolve<CallResult>({ status: 'dropped', reason: 'INVALID_ARGUMENT' })
  }

  /** Whatever an argument does when it is looked at stays here. */
  const guarded = (method: string, call: () => Promise<CallResult>): Promise<CallResult> => {
    try {
      return call().catch(() => invalid(method))
    } catch {
      return invalid(method)
    }
  }

  const eventMethod =
    (kind: 'identify' | 'track' | 'group' | 'screen') =>
    (first: unknown, second?: unknown, third?: unknown): Promise<CallResult> =>
      guarded(kind, () => {
        const at = host.clock.now()
        const text = requiredText(first, corrected(kind))
        if (text === undefined) return invalid(kind)
        const given = dataAndOptions(second, third)
        const data = readData(given.data, corrected(kind))
        const options = readOptions(given.options, corrected(kind))
        switch (kind) {
          case 'identify':
            return client.event({ kind, userId: text, traits: data, options, at })
          case 'group':
            return client.event({ kind, groupId: text, traits: data, options, at })
          default:
            return client.event({ kind, name: text, properties: data, options, at })
        }
      })

  const put =
    (kind: 'anonymousId' | 'advertisingId' | 'deviceToken', method: string) =>
    (given: unknown): Promise<CallResult> =>
      guarded(method, () => {
        // An empty advertisement id or token removes the one there is.
        const value = given === '' && kind !== 'anonymousId' ? '' : requiredText(given, corrected(method))
        const isTooLong = kind === 'anonymousId' && utf8Length(value ?? '') > LONGEST_ANONYMOUS_ID_BYTES
        return value === undefined || isTooLong ? invalid(method) : client.put({ kind, value })
      })

  const formerName =
    (name: string, today: string, method: (given: unknown) => Promise<CallResult>) => (given: unknown) => {
      if (!warned.has(name)) client.log.write(WARN, `${name} is called ${today} now`)
      warned.add(name)
      return method(given)
    }

  const putAnonymousId = put('anonymousId', 'putAnonymousId')
  const putAdvertisingId = put('advertisingId', 'putAdvertisingId')
  return {
    LogLevel: LOG_LEVEL,
    initialize: (writeKey, configuration, options) => {
      const given = dataAndOptions(configuration, options)
      return client.initialize(writeKey, given.data, given.options)
    },
    identify: eventMethod('identify'),
    track: eventMethod('track'),
    group: eventMethod('group'),
    screen: eventMethod('screen'),
    alias: (newId, options) =>
      guarded('alias', () => {
        const at = host.clock.now()
        const text = requiredText(newId, corrected('alias'))
        if (text === undefined) return invalid('alias')
        return client.event({ kind: 'alias', newId: text, options: readOptions(options, corrected('alias')), at })
      }),
    reset: (renewAnonymousId) =>
      guarded('reset', () => client.reset({ kind: 'reset', renews: renewAnonymousId === true })),
    optOut: (isOptOut) =>
      guarded('optOut', () => (typeof isOptOut === 'boolean' ? client.optOut(isOptOut) : invalid('optOut'))),
    putAnonymousId,
    putAdvertisingId,
    putDeviceToken: put('deviceToken', 'putDeviceToken'),
    setAnonymousId: formerName('setAnonymousId', 'putAnonymousId', putAnonymousId),
    setAdvertisingId: formerName('setAdvertisingId', 'putAdvertisingId', putAdvertisingId),
    flush: () => client.flush().catch((): FlushResult => ({ ok: false, sent: 0, remaining: 0, reason: 'RETRY_LATER' })),
    getStatus: () => Promise.resolve(client.status()),
  }
}
