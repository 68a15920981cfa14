import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CordovaApp } from './cordova-cli.ts'
import { PAGE } from './pages.ts'

/* `cordova create`, platform browser, the plugin from its tarball, `cordova prepare`: contracts/cordova-sdk.md §25 step 8. */

let app: CordovaApp
beforeAll(async () => {
  app = await CordovaApp.make('browser', { 'index.html': PAGE })
}, 180_000)
afterAll(() => app?.[Symbol.dispose]())

test('the plugin is where the browser platform looks for it, registered as a global', () => {
  const www = path.join(app.folder, 'platforms/browser/www')
  const plugin = path.join(www, 'plugins/service-sdk-cordova/www')
  expect(readdirSync(plugin).sort()).toEqual(['service-client.js'])
  const registered = readFileSync(path.join(www, 'cordova_plugins.js'), 'utf8')
  expect(registered).toMatch(/"clobbers":\s*\[\s*"ServiceClient"/)
})

test('the app depends on nothing more than the plugin and its platform', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(app.folder, 'package.json'), 'utf8'))
  expect(Object.keys({ ...dependencies, ...devDependencies }).sort()).toEqual([
    'cordova-browser',
    'service-sdk-cordova',
  ])
})
