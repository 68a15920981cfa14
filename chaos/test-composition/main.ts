import { fileURLToPath } from 'node:url'
import { compose } from '@millrace/server/compose'
import { DataFolder } from '@millrace/server/data-folder'
import { Front } from '@millrace/server/front'
import { newLogger } from '@millrace/server/logger'
import { loadSettings, settingsInForce } from '@millrace/server/settings'

/*
 * The product as `millrace start` composes it, but with processes of user code that can be made to forge what they say: the
 * product itself has no way to start them so. It takes the same settings and stops the same way.
 */
const settings = loadSettings(process.env)
const folder = DataFolder.open(settings.dataDir)
const logger = newLogger(settings.logLevel)
const stopped = new Promise<void>((resolve) => process.on('SIGTERM', () => resolve()))
const front = await Front.listen(settings.host, settings.port)
const product = await compose({
  settings,
  shownSettings: settingsInForce(process.env),
  folder,
  front,
  logger,
  transformationProgram: fileURLToPath(import.meta.resolve('@millrace/transformations/testing/forging-child')),
})
await product.controlPlane.ensureOwner({ email: settings.ownerEmail, token: settings.ownerToken })
process.stdout.write(`The test composition is ready: ${product.baseUrl}\n`)
await stopped
await product.stop()
folder[Symbol.dispose]()
process.exit()
