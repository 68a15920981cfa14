import { type Client, openBundledPage } from '../../../../../tests/sdk/bundled-page.ts'
import type { IosDevice } from './ios-device.ts'

/** The bundled page of a Cordova app on this phone. */
export function openPage(device: IosDevice): Client {
  return openBundledPage('ios', 'iPhone', (success, error, _service, action, args) => {
    if (action === 'listen') {
      device.page = success
      return success({ t: 'hello' })
    }
    device.act(action, args).then(success, error)
  })
}
