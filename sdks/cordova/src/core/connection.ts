import type { Bridge, Signal } from './bridge.ts'
import type { Host } from './host.ts'
import { execBridge } from './native-bridge.ts'
import { ServiceClientError } from './results.ts'

export interface Connection {
  readonly bridge: Bridge
  /** The native part should be there and is not: the web bridge does its work. */
  readonly isNativeMissing: boolean
}

const DEVICE_READY_MS = 30_000
const HELLO_MS = 3_000

/**
 * Waits for the device and chooses the engine: the one behind `cordova.exec` if it says hello, else the page's own.
 *
 * @throws ServiceClientError DEVICE_NOT_READY after 30 s.
 * @see contracts/cordova-sdk.md §2.2 steps 2 and 3
 */
export async function connect(host: Host, hear: (signal: Signal) => void): Promise<Connection> {
  const { onDeviceReady } = host
  if (onDeviceReady && !(await within(host, DEVICE_READY_MS, (done) => onDeviceReady(() => done(true))))) {
    throw new ServiceClientError('DEVICE_NOT_READY', 'no deviceready')
  }
  const exec = host.exec()
  if (exec) {
    const bridge = execBridge(exec)
    let isChosen = true
    const answers = await within(host, HELLO_MS, (done) => {
      bridge.listen(
        (signal) => {
          if (signal.t === 'hello') done(true)
          else if (isChosen) hear(signal)
        },
        () => done(false),
      )
    })
    if (answers) return { bridge, isNativeMissing: false }
    isChosen = false
  }
  // Not at once: what a page sets up for it is not to delay the caller of initialize.
  const bridge = await Promise.resolve().then(host.webBridge)
  bridge.listen(hear, () => undefined)
  return { bridge, isNativeMissing: !!exec }
}

function within(host: Host, limitMs: number, begin: (done: (value: boolean) => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    host.clock.after(limitMs, () => resolve(false))
    try {
      begin(resolve)
    } catch {
      resolve(false)
    }
  })
}
