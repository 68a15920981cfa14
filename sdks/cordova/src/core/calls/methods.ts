import { newClient } from '../client.ts'
import type { Host } from '../host.ts'
import { ERROR, LOG_LEVEL } from '../log.ts'
import { unboxed } from '../text/plain-json.ts'
import { MAX_CARRIED_BYTES, utf8Length } from '../text/utf8.ts'
import { dataAndOptions, readData, readOptions, requiredText } from './arguments.ts'
import { type CallResult, dropped, type FlushResult, type InitResult, type Status } from './results.ts'

const MAX_ANONYMOUS_ID_BYTES = 128

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
  const client = newClient(host)
  const { corrected } = client

  const invalid = (method: string): Promise<CallResult> => {
    client.count('invalid')
    corrected(method)('dropped')
    return dropped('INVALID_ARGUMENT')
  }

  /** Whatever an argument does when it is looked at stays here. @param call answers undefined to unusable arguments. */
  const guarded = async (method: string, call: () => Promise<CallResult> | undefined): Promise<CallResult> => {
    try {
      return call()!.catch(client.notRecorded)
    } catch {
      // As without a result.
    }
    return invalid(method)
  }

  const event =
    (kind: 'identify' | 'track' | 'group' | 'screen' | 'alias') =>
    (first: unknown, second?: unknown, third?: unknown): Promise<CallResult> =>
      guarded(kind, () => {
        const at = host.clock.now()
        const tell = corrected(kind)
        const name = requiredText(first, tell)
        const given: { payload?: unknown; callOptions: unknown } =
          kind === 'alias' ? { callOptions: second } : dataAndOptions(second, third)
        if (!name) return undefined
        return client.event({
          kind,
          name,
          payload: readData(given.payload, tell),
          callOptions: readOptions(given.callOptions, tell, corrected(kind, ERROR)),
          at,
        })
      })

  const put =
    (kind: 'anonymousId' | 'advertisingId' | 'deviceToken', method: string) =>
    (boxed: unknown): Promise<CallResult> =>
      guarded(method, () => {
        const given = unboxed(boxed)
        const isAnonymousId = kind === 'anonymousId'
        // An empty advertisement id or token removes the one there is.
        const value = given === '' && !isAnonymousId ? '' : requiredText(given, corrected(method))
        const mostBytes = isAnonymousId ? MAX_ANONYMOUS_ID_BYTES : MAX_CARRIED_BYTES
        const isUsable = value !== undefined && utf8Length(value) <= mostBytes
        return isUsable ? client.put({ kind, value }) : undefined
      })

  const putAnonymousId = put('anonymousId', 'putAnonymousId')
  const putAdvertisingId = put('advertisingId', 'putAdvertisingId')
  return {
    LogLevel: LOG_LEVEL,
    initialize(writeKey, configuration, options) {
      const given = dataAndOptions(configuration, options)
      return client.initialize(writeKey, given.payload, given.callOptions)
    },
    identify: event('identify'),
    track: event('track'),
    group: event('group'),
    screen: event('screen'),
    alias: event('alias'),
    reset: (renews) => guarded('reset', () => client.reset({ kind: 'reset', renews: unboxed(renews) === true })),
    optOut: (given) =>
      guarded('optOut', () => {
        const isOptOut = unboxed(given)
        return typeof isOptOut === 'boolean' ? client.optOut(isOptOut) : undefined
      }),
    putAnonymousId,
    putAdvertisingId,
    putDeviceToken: put('deviceToken', 'putDeviceToken'),
    setAnonymousId: putAnonymousId,
    setAdvertisingId: putAdvertisingId,
    flush: client.flush,
    getStatus: async () => client.status(),
  }
}
