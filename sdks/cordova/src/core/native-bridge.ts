import type { Bridge } from './bridge.ts'

/** `cordova.exec`. */
export type Exec = (
  success: (value: unknown) => void,
  error: (fault: unknown) => void,
  service: string,
  action: string,
  args: readonly unknown[],
) => void

const SERVICE = 'ServiceClient'

/** The engine behind `cordova.exec`: each method is the action of its name. @see BRIDGE.md */
export function execBridge(exec: Exec): Bridge {
  const methods: ProxyHandler<Bridge> = {
    get: (_bridge, action: string) =>
      action === 'listen'
        ? (hear: (signal: unknown) => void, failed: (fault: unknown) => void) => exec(hear, failed, SERVICE, action, [])
        : (...args: readonly unknown[]) =>
            new Promise((resolve, reject) => exec(resolve, reject, SERVICE, action, args)),
  }
  return new Proxy({} as Bridge, methods)
}
