import { readFileSync } from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'

const BUNDLE = path.join(import.meta.dirname, '../../sdks/cordova/www/service-client.js')

// biome-ignore lint/suspicious/noExplicitAny: what a method answers is looked into by the test
export type Client = Readonly<Record<string, (...given: unknown[]) => Promise<any>>>

/** `cordova.exec`. */
type Exec = (
  success: (value: unknown) => void,
  error: (fault: unknown) => void,
  service: string,
  action: string,
  args: readonly unknown[],
) => void

/** The bundled page of a Cordova app, in a context of its own, after deviceready. */
export function openBundledPage(platformId: 'android' | 'ios', userAgent: string, exec: Exec): Client {
  const module: { exports: unknown } = { exports: {} }
  const page = {
    module,
    cordova: { platformId, exec },
    document: { addEventListener: (name: string, ready: () => void) => name === 'deviceready' && ready() },
    navigator: { language: 'de-DE', userAgent },
    crypto,
    console,
    performance,
    TextEncoder,
    setTimeout,
    clearTimeout,
  }
  vm.runInNewContext(readFileSync(BUNDLE, 'utf8'), page)
  return module.exports as Client
}
