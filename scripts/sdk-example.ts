import path from 'node:path'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'
import { AppServer } from '../tests/sdk/app-server.ts'
import { CordovaApp } from '../tests/sdk/cordova-cli.ts'
import { exampleFiles } from '../tests/sdk/pages.ts'

programArguments({
  usage: `Makes a Cordova app of sdks/cordova/example with the packed plugin, and serves it until Ctrl-C.

  npm run sdk:example`,
})

const { 'example.html': html = '', ...files } = exampleFiles()
using app = await CordovaApp.make('browser', { 'index.html': html, ...files })
await using server = await AppServer.open(path.join(app.folder, 'platforms/browser/www'))
console.log(`The example app: ${server.url}`)
console.log('Start the server with `npm start`, and give the app a write key of one of its sources.')
await new Promise<void>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve)
})
