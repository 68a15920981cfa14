import { pageHost } from '../browser/page-host.ts'
import type { WebEngine } from '../browser/web-engine.ts'
import { type ServiceClientMethods, serviceClient } from '../core/methods.ts'

/** One per page, whichever entry was loaded first: a queue has one client. */
export interface Instance {
  readonly client: ServiceClientMethods
  readonly webBridge: () => WebEngine
}

const KEY = Symbol.for('service-sdk-cordova')

export function instance(): Instance {
  const holder = globalThis as { [KEY]?: Instance }
  holder[KEY] = holder[KEY] || newInstance()
  return holder[KEY]
}

function newInstance(): Instance {
  const host = pageHost()
  return { client: serviceClient(host), webBridge: host.webBridge }
}
