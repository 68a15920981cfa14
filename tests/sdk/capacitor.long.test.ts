import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packedPlugin } from './cordova-cli.ts'

/*
 * The steps of docs/cordova-sdk-in-capacitor.md with the packed plugin, and what Gradle, Xcode and a bundler then find:
 * contracts/cordova-sdk.md §25 step 10.
 */

const run = promisify(execFile)
const VERSION = '8.5.2'
const PACKAGES = ['core', 'cli', 'android', 'ios'].map((name) => `@capacitor/${name}@${VERSION}`)
const SDK = path.join(import.meta.dirname, '../../sdks/cordova')

let app: string

beforeAll(async () => {
  app = mkdtempSync(path.join(tmpdir(), 'millrace-capacitor-'))
  const write = (file: string, text: string) => writeFileSync(path.join(app, file), text)
  mkdirSync(path.join(app, 'www'))
  write('package.json', JSON.stringify({ name: 'shop', version: '1.0.0', private: true }))
  write('capacitor.config.json', JSON.stringify({ appId: 'com.example.shop', appName: 'Shop', webDir: 'www' }))
  write('www/index.html', '<!doctype html><title>Shop</title><script type="module" src="app.js"></script>')
  write(
    'app.js',
    "import { ServiceClient } from 'service-sdk-cordova'\nServiceClient.initialize('wk').then(console.log)\n",
  )
  const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES, await packedPlugin(app)]
  await run('npm', npm, { cwd: app })
  for (const step of [['add', 'android'], ['add', 'ios'], ['sync']]) {
    const env = { ...process.env, CI: '1', HOME: app }
    await run(process.execPath, [path.join(app, 'node_modules/@capacitor/cli/bin/capacitor'), ...step], {
      cwd: app,
      env,
    })
  }
}, 600_000)

afterAll(() => rmSync(app, { recursive: true, force: true }))

test('every file of the engines is where Gradle and Swift Package Manager compile it', () => {
  const android = path.join(app, 'android/capacitor-cordova-android-plugins/src/main/java')
  const java = globSync('**/*.java', { cwd: path.join(SDK, 'src/android') })
  for (const file of java) {
    expect(read(path.join(android, file)), file).toBe(read(path.join(SDK, 'src/android', file)))
  }
  const ios = path.join(app, 'ios/capacitor-cordova-ios-plugins/sources/ServiceSdkCordova')
  const native = globSync('*.{h,m}', { cwd: path.join(SDK, 'src/ios') })
  expect(native.length).toBeGreaterThan(20)
  for (const file of native) expect(read(path.join(ios, file)), file).toBe(read(path.join(SDK, 'src/ios', file)))
  expect(read(path.join(ios, 'Package.swift'))).toContain('.copy("resources/ServiceClientPrivacy.bundle")')
  expect(read(path.join(app, 'ios/App/CapApp-SPM/Package.swift'))).toContain('"ServiceSdkCordova"')
})

test('both platforms load the plugin at the start, with the job service and the two permissions', () => {
  expect(read(path.join(app, 'android/app/src/main/res/xml/config.xml'))).toMatch(
    /<feature name="ServiceClient">\s*<param name="android-package" value="org\.millrace\.cordova\.ServiceClientPlugin"\/>\s*<param name="onload" value="true"\/>/,
  )
  expect(read(path.join(app, 'ios/App/App/config.xml'))).toMatch(
    /<feature name="ServiceClient">\s*<param name="ios-package" value="MLRPlugin"\/>\s*<param name="onload" value="true"\/>/,
  )
  const manifest = read(path.join(app, 'android/capacitor-cordova-android-plugins/src/main/AndroidManifest.xml'))
  expect(manifest).toContain('android:name="org.millrace.cordova.DrainJobService"')
  expect([...manifest.matchAll(/<uses-permission/g)]).toHaveLength(2)
})

test('the page of both platforms gets the client under its global name', () => {
  for (const www of ['android/app/src/main/assets/public', 'ios/App/App/public']) {
    expect(read(path.join(app, www, 'cordova_plugins.js'))).toMatch(/"?clobbers"?:\s*\[\s*"ServiceClient"\s*\]/)
    expect(read(path.join(app, www, 'plugins/service-sdk-cordova/www/service-client.js'))).not.toBe('')
  }
})

test('an import of the package bundles for the web, with nothing else from npm', async () => {
  const entryPoints = [path.join(app, 'app.js')]
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    format: 'esm',
    write: false,
    metafile: true,
    absWorkingDir: app,
  })
  expect(Object.keys(metafile.inputs).toSorted()).toEqual(['app.js', 'node_modules/service-sdk-cordova/esm/index.js'])
})

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
