import { readFileSync } from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import type { BridgeFault } from '../../core/bridge.ts'
import type { Exec } from '../../core/native-bridge.ts'
import type { IosDevice } from './ios-device.ts'

const BUNDLE = path.join(import.meta.dirname, '../../../www/service-client.js')

// biome-ignore lint/suspicious/noExplicitAny: what a method answers is looked into by the test
export type Client = Readonly<Record<string, (...given: unknown[]) => Promise<any>>>

/** The bundled page of a Cordova app on this phone, in a context of its own. */
export function openPage(device: IosDevice): Client {
  const exec: Exec = (success, error, _service, action, args) => {
    if (action === 'listen') {
      device.page = success
      return success({ t: 'hello' })
    }
    const failed = (fault: BridgeFault) => error(fault)
    device.act(action, args).then(success, failed)
  }
  const module: { exports: unknown } = { exports: {} }
  const page = {
    module,
    cordova: { platformId: 'ios', exec },
    document: { addEventListener: (name: string, ready: () => void) => name === 'deviceready' && ready() },
    navigator: { language: 'de-DE', userAgent: 'iPhone' },
    crypto,
    console,
    performance,
    setTimeout,
    clearTimeout,
  }
  vm.runInNewContext(readFileSync(BUNDLE, 'utf8'), page)
  return module.exports as Client
}
