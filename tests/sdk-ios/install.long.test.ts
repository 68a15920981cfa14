import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CordovaApp } from '../sdk/cordova-cli.ts'

/* `cordova create`, platform ios, the plugin from its tarball, `cordova prepare`: what Xcode then finds: contracts/cordova-sdk.md §25 step 8. */

const SOURCES = path.join(import.meta.dirname, '../../sdks/cordova/src/ios')
let app: CordovaApp
let platform: string
let project: string

beforeAll(async () => {
  app = await CordovaApp.make('ios', { 'index.html': '<!doctype html><title>Shop</title>' })
  platform = path.join(app.folder, 'platforms/ios')
  const [found] = globSync('*.xcodeproj/project.pbxproj', { cwd: platform })
  project = read(path.join(platform, found!))
}, 600_000)

afterAll(() => app?.[Symbol.dispose]())

test('every source and header of the plugin is in the project, as it is in the repository', () => {
  const files = globSync('*.{h,m}', { cwd: SOURCES })
  const [installed] = globSync('*/Plugins/service-sdk-cordova', { cwd: platform })
  const folder = path.join(platform, installed!)
  expect(readdirSync(folder).toSorted()).toEqual(files.toSorted())
  for (const file of files) expect(read(path.join(folder, file)), file).toBe(read(path.join(SOURCES, file)))
})

test('Xcode compiles each of them', () => {
  const compiled = [...project.matchAll(/\/\* (\w+\.m) in Sources \*\/,/g)].map((match) => match[1])
  expect(compiled).toEqual(expect.arrayContaining(globSync('*.m', { cwd: SOURCES })))
})

test('the system libraries are linked, and no pod and no Swift package is added', () => {
  const linked = [...project.matchAll(/\/\* (\S+) in Frameworks \*\/,/g)].map((match) => match[1])
  for (const library of ['libsqlite3.tbd', 'libz.tbd', 'Network.framework']) {
    expect(linked).toContain(library)
  }
  expect(globSync('**/{Podfile,pods.json}', { cwd: platform })).toEqual([])
  expect(globSync('packages/cordova-ios-plugins/**/*service-sdk*', { cwd: platform })).toEqual([])
})

test('the privacy bundle is a resource of the app', () => {
  const [bundle] = globSync('*/Resources/ServiceClientPrivacy.bundle', { cwd: platform })
  const manifest = 'ServiceClientPrivacy.bundle/PrivacyInfo.xcprivacy'
  expect(read(path.join(platform, bundle!, 'PrivacyInfo.xcprivacy'))).toBe(read(path.join(SOURCES, manifest)))
  expect(project.includes('ServiceClientPrivacy.bundle in Resources')).toBe(true)
})

test('Cordova knows the plugin and loads it at the start', () => {
  const [config] = globSync('*/config.xml', { cwd: platform })
  expect(read(path.join(platform, config!)).replaceAll(/>\s+</g, '><')).toContain(
    '<feature name="ServiceClient"><param name="ios-package" value="MLRPlugin" /><param name="onload" value="true" /></feature>',
  )
})

test('Info.plist is as it was: no text, no scheme, no tracking prompt', () => {
  const [list] = globSync('*/*Info.plist', { cwd: platform })
  expect(read(path.join(platform, list!))).not.toMatch(/UsageDescription|CFBundleURLSchemes|Millrace|MLR/)
})

test('the page gets the client under its global name, and nothing of the browser platform', () => {
  const plugin = path.join(platform, 'www/plugins/service-sdk-cordova/www')
  expect(existsSync(path.join(plugin, 'service-client.js'))).toBe(true)
  expect(read(path.join(platform, 'www/cordova_plugins.js'))).toMatch(/"clobbers":\s*\[\s*"ServiceClient"\s*\]/)
})

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
