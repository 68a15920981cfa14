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

/** All but `listen`. */
export const ACTIONS = ['open', 'push', 'state', 'tail', 'drain', 'purge', 'config', 'advertId'] as const

/** The engine behind `cordova.exec`. @see BRIDGE.md */
export function execBridge(exec: Exec): Bridge {
  const bridge = {
    listen: (hear: (signal: Signal) => void, failed: (fault: unknown) => void) =>
      exec((signal) => hear(signal as Signal), failed, SERVICE, 'listen', []),
  } as Record<string, unknown>
  for (const action of ACTIONS) {
    bridge[action] = (...args: readonly unknown[]) =>
      new Promise((resolve, reject) => exec(resolve, reject, SERVICE, action, args))
  }
  return bridge as unknown as Bridge
}
