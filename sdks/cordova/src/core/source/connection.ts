import { type Bridge, GUARDED_KEYS, type Signal } from '../bridge.ts'
import { ServiceClientError } from '../calls/results.ts'
import { passed } from '../clock.ts'
import type { Host } from '../host.ts'
import { execBridge } from '../native-bridge.ts'
import { picked } from '../state-changes.ts'
import { parsedObject } from '../text/parsed-json.ts'

export interface Connection {
  readonly bridge: Bridge
  /** The native part should be there and is not: the web bridge does its work. */
  readonly isNativeMissing: boolean
}

const DEVICE_READY_MS = 30_000
const HELLO_MS = 3_000

/** In the page's guard once a native part has answered: from then on the page's own engine never runs. */
export const NATIVE = 'native'

/**
 * Waits for the device and chooses the engine: the one behind `cordova.exec` if it says hello, else the page's own. That one
 * knows nothing of an opt-out which the native one keeps, so it never takes over from it.
 *
 * @throws ServiceClientError DEVICE_NOT_READY after 30 s.
 * @see contracts/cordova-sdk.md §2.2 steps 2 and 3
 */
export async function connect(host: Host, hear: (signal: Signal) => void): Promise<Connection> {
  const { onDeviceReady } = host
  let missing = 'deviceready'
  if (!onDeviceReady || (await within(host, DEVICE_READY_MS, (done) => onDeviceReady(() => done(true))))) {
    missing = 'native part'
    /** Of an earlier start. */
    const guard = host.guard()
    const isNative = guard === NATIVE
    const exec = host.exec()
    if (exec) {
      const bridge = execBridge(exec)
      let isChosen = true
      let mark: string | undefined
      const answers = await within(host, isNative ? DEVICE_READY_MS : HELLO_MS, (done) => {
        bridge.listen(
          (signal) => {
            if (signal.t === 'hello') done(true)
            else if (isChosen) {
              // An app may clear localStorage. A signal comes when the user leaves the app, at the latest.
              host.guard(mark)
              hear(signal)
            }
          },
          () => done(false),
        )
      })
      if (answers) {
        // The native part was late then, and the page's engine ran.
        if (guard && !isNative) await bridge.state(picked(parsedObject(guard), GUARDED_KEYS))
        mark = NATIVE
        host.guard(mark)
        return { bridge, isNativeMissing: false }
      }
      isChosen = false
    }
    if (!isNative) {
      // Not at once: what a page sets up for it is not to delay the caller of initialize.
      const bridge = await Promise.resolve().then(host.webBridge)
      bridge.listen(hear, () => undefined)
      return { bridge, isNativeMissing: !!exec }
    }
  }
  throw new ServiceClientError('DEVICE_NOT_READY', `no ${missing}`)
}

/** @returns undefined when it takes too long, or throws. */
function within(
  { clock }: Host,
  limitMs: number,
  begin: (done: (value: boolean) => void) => void,
): Promise<boolean | undefined> {
  // biome-ignore lint/suspicious/noConfusingVoidType: `passed` has no value
  return Promise.race<boolean | void>([new Promise(begin), passed(clock, limitMs)]).catch(() => undefined) as never
}
