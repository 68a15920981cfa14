import { LOG_LEVEL } from '../core/log.ts'
import type { ServiceClientMethods } from '../core/methods.ts'
import { instance } from './instance.ts'

/* Becomes esm/index.js, for bundlers and for Capacitor. */

export const LogLevel = LOG_LEVEL

/**
 * Each call goes to the one instance of the page, so importing early is safe. Without a window, on a server that renders,
 * nothing happens and calls are dropped.
 */
export const ServiceClient: ServiceClientMethods = facade()

function facade(): ServiceClientMethods {
  const lazy =
    (name: Exclude<keyof ServiceClientMethods, 'LogLevel'>) =>
    (...given: readonly unknown[]): Promise<unknown> => {
      if (typeof window === 'undefined') return new Promise(() => undefined)
      const method = instance().client[name] as (...given: readonly unknown[]) => Promise<unknown>
      return method(...given)
    }
  return {
    LogLevel: LOG_LEVEL,
    initialize: lazy('initialize'),
    identify: lazy('identify'),
    track: lazy('track'),
    group: lazy('group'),
    screen: lazy('screen'),
    alias: lazy('alias'),
    reset: lazy('reset'),
    optOut: lazy('optOut'),
    putAnonymousId: lazy('putAnonymousId'),
    putAdvertisingId: lazy('putAdvertisingId'),
    putDeviceToken: lazy('putDeviceToken'),
    setAnonymousId: lazy('setAnonymousId'),
    setAdvertisingId: lazy('setAdvertisingId'),
    flush: lazy('flush'),
    getStatus: lazy('getStatus'),
  } as ServiceClientMethods
}
