import { pageHost } from '../browser/page-host.ts'
import { type ServiceClientMethods, serviceClient } from '../core/calls/methods.ts'

/** One per page, whichever entry was loaded first: a queue has one client. */
export interface Instance {
  readonly client: ServiceClientMethods
}

const KEY = Symbol.for('service-sdk-cordova')

export function instance(): Instance {
  const holder = globalThis as { [KEY]?: Instance }
  holder[KEY] = holder[KEY] || { client: serviceClient(pageHost()) }
  return holder[KEY]
}
