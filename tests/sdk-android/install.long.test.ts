import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CordovaApp } from '../sdk/cordova-cli.ts'

/* `cordova create`, platform android, the plugin from its tarball, `cordova prepare`: what a build then finds. */

const sources = path.join(import.meta.dirname, '../../sdks/cordova/src/android/org/millrace/cordova')
let app: CordovaApp
let main: string

beforeAll(async () => {
  app = await CordovaApp.make('android', { 'index.html': '<!doctype html><title>Shop</title>' })
  main = path.join(app.folder, 'platforms/android/app/src/main')
}, 600_000)

afterAll(() => app?.[Symbol.dispose]())

test('every Java file of the plugin is in the project, as it is in the repository', () => {
  const installed = path.join(main, 'java/org/millrace/cordova')
  const files = readdirSync(sources)
  expect(readdirSync(installed).toSorted()).toEqual(files.toSorted())
  for (const file of files) expect(read(path.join(installed, file)), file).toBe(read(path.join(sources, file)))
})

test('Cordova knows the plugin and loads it at the start', () => {
  expect(compact(read(path.join(main, 'res/xml/config.xml')))).toContain(
    '<feature name="ServiceClient"><param name="android-package" value="org.millrace.cordova.ServiceClientPlugin" /><param name="onload" value="true" /></feature>',
  )
})

test('the manifest has the job service and the two permissions, and no other of ours', () => {
  const manifest = compact(read(path.join(main, 'AndroidManifest.xml')))
  const permissions = [...manifest.matchAll(/<uses-permission android:name="([^"]+)"/g)].map((match) => match[1])
  expect(permissions.toSorted()).toEqual(['android.permission.ACCESS_NETWORK_STATE', 'android.permission.INTERNET'])
  const application = manifest.slice(manifest.indexOf('<application'), manifest.indexOf('</application>'))
  expect(application).toMatch(
    /<service (?=[^>]*android:name="org\.millrace\.cordova\.DrainJobService")(?=[^>]*android:permission="android\.permission\.BIND_JOB_SERVICE")(?=[^>]*android:exported="false")[^>]*>/,
  )
})

test('the page gets the client under its global name, and nothing of the browser platform', () => {
  const www = path.join(main, 'assets/www')
  expect(existsSync(path.join(www, 'plugins/service-sdk-cordova/www/service-client.js'))).toBe(true)
  expect(read(path.join(www, 'cordova_plugins.js'))).toMatch(/"clobbers":\s*\[\s*"ServiceClient"\s*\]/)
})

test('no Gradle dependency and no repository is added', () => {
  const properties = read(path.join(app.folder, 'platforms/android/project.properties'))
  expect(properties).not.toMatch(/millrace|cordova\.(gradle|system)\./)
})

function read(file: string): string {
  return readFileSync(file, 'utf8')
}

function compact(xml: string): string {
  return xml.replaceAll(/>\s+</g, '><')
}
