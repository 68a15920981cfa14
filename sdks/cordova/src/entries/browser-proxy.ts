import type { Instance } from './instance.ts'

/* Becomes www/browser-proxy.js: registers the engine that service-client.js already holds, for `cordova.exec`. */

declare function require(name: 'cordova/exec/proxy'): { add(service: string, actions: Actions): void }

type Actions = Record<string, (success: Answer, error: Answer, args: readonly unknown[]) => void>
type Answer = (value: unknown, options?: { readonly keepCallback: true }) => void

const engine = () => (globalThis as unknown as Record<symbol, Instance>)[Symbol.for('service-sdk-cordova')]!.webBridge()
const actions: Actions = { listen: (success) => engine().listen((signal) => success(signal, { keepCallback: true })) }
for (const action of ['open', 'push', 'state', 'tail', 'drain', 'purge', 'config', 'advertId'] as const) {
  actions[action] = (success, error, args) => {
    const call = engine()[action] as (argument: unknown) => Promise<unknown>
    call.call(engine(), args[0]).then(success, (fault: unknown) => error({ code: 'INTERNAL', detail: String(fault) }))
  }
}

// biome-ignore lint/correctness/noUndeclaredDependencies: cordova.js gives it at run time
require('cordova/exec/proxy').add('ServiceClient', actions)
