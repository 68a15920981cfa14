import type { ServiceClientMethods } from '../core/calls/methods.ts'
import { type CallResult, ServiceClientError } from '../core/calls/results.ts'
import { LOG_LEVEL } from '../core/log.ts'
import { instance } from './instance.ts'

/* Becomes esm/index.js, for bundlers and for Capacitor. */

export const LogLevel = LOG_LEVEL

/**
 * Each call goes to the one instance of the page, so importing early is safe. Without a window, on a server that renders,
 * calls are dropped and `initialize` rejects with DEVICE_NOT_READY.
 */
export const ServiceClient: ServiceClientMethods = facade()

/** They look and change nothing. */
const HARMLESS = ['flush', 'getStatus']

function withoutWindow(name: string): Promise<CallResult> {
  if (name !== 'initialize') return Promise.resolve({ status: 'dropped' })
  const rejected = Promise.reject(new ServiceClientError('DEVICE_NOT_READY', 'there is no window'))
  // Nobody has to look at it.
  rejected.catch(() => undefined)
  return rejected
}

function facade(): ServiceClientMethods {
  const lazy =
    (name: Exclude<keyof ServiceClientMethods, 'LogLevel'>) =>
    (...given: readonly unknown[]): Promise<unknown> => {
      if (typeof window === 'undefined' && !HARMLESS.includes(name)) return withoutWindow(name)
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
