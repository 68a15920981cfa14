import { fileURLToPath } from 'node:url'
import { loadSettings, settingsInForce } from '@millrace/server/settings'
import { start } from '@millrace/server/start'

/*
 * The product as `millrace start` runs it, but with processes of user code that can be made to forge what they say: the
 * product itself cannot be told to start them.
 */
const { env, stdout, stderr } = process
const code = await start({
  settings: loadSettings(env),
  shownSettings: settingsInForce(env),
  stdout,
  stderr,
  stopped: new Promise((resolve) => process.on('SIGTERM', () => resolve('SIGTERM'))),
  transformationProgram: fileURLToPath(import.meta.resolve('@millrace/transformations/testing/forging-child')),
})
process.exit(code)
