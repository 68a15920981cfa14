import type { Bridge, Signal } from './bridge.ts'

/** `cordova.exec`. */
export type Exec = (
  success: (value: unknown) => void,
  error: (fault: unknown) => void,
  service: string,
  action: string,
  args: readonly unknown[],
) => void

const SERVICE = 'ServiceClient'

/** The engine behind `cordova.exec`. @see BRIDGE.md */
export function execBridge(exec: Exec): Bridge {
  const call =
    (action: string) =>
    // biome-ignore lint/suspicious/noExplicitAny: the type of an answer is that of the bridge's method
    (argument?: unknown): Promise<any> =>
      new Promise((resolve, reject) => {
        exec(resolve, reject, SERVICE, action, argument === undefined ? [] : [argument])
      })
  return {
    listen: (hear, failed) => exec((signal) => hear(signal as Signal), failed, SERVICE, 'listen', []),
    open: call('open'),
    push: call('push'),
    state: call('state'),
    tail: call('tail'),
    drain: call('drain'),
    purge: call('purge'),
    config: call('config'),
    advertId: call('advertId'),
  }
}
