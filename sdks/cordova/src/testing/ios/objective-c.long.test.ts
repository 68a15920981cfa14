import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mayBeSkipped, run, SOURCES } from './toolchain.ts'

/*
 * The Objective-C of the plugin against the headers of every host that it is for, under the rules of ARC: contracts/cordova-sdk.md
 * §25 step 7, §28 item 54. What of Apple's own headers it needs is in apple/.
 */

/** The oldest and the newest Cordova, and Capacitor's layer for Cordova plugins. */
const HOSTS = {
  'cordova-ios 7.0.1': { from: 'cordova-ios@7.0.1', headers: 'cordova-ios/CordovaLib/include/Cordova' },
  'cordova-ios 8.1.1': { from: 'cordova-ios@8.1.1', headers: 'cordova-ios/CordovaLib/include/Cordova' },
  'Capacitor 8.5.2': {
    from: '@capacitor/ios@8.5.2',
    headers: '@capacitor/ios/CapacitorCordova/CapacitorCordova/Classes/Public',
  },
} as const

const missing = await run('clang', ['--version']).then(
  () => undefined,
  () => 'clang not found',
)
if (missing) process.stderr.write(`SKIPPED Objective-C: ${missing}\n`)

describe.skipIf(missing && mayBeSkipped)('the Objective-C of the plugin', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-objective-c-'))
  beforeAll(() => {
    if (missing) throw new Error(missing)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(Object.entries(HOSTS))('fits %s, without a warning', async (_name, host) => {
    const include = await includeFolder(host)
    for (const file of sources()) await check(path.join(SOURCES, file), include)
  })

  test('the check is one: a misspelt selector, an object of a wrong type and a leak across the bridge to C do not pass', async () => {
    const include = await includeFolder(HOSTS['cordova-ios 8.1.1'])
    const broken = async (file: string, good: string, bad: string) => {
      const text = readFileSync(path.join(SOURCES, file), 'utf8')
      expect(text).toContain(good)
      const copy = path.join(folder, file)
      writeFileSync(copy, text.replace(good, bad))
      return check(copy, include)
    }
    await expect(
      broken('MLRPlugin.m', 'sendPluginResult:result callbackId:', 'sendPluginResult:result callback:'),
    ).rejects.toThrow(/sendPluginResult:callback/)
    await expect(
      broken('MLRSender.m', 'exchange.body = [NSMutableData data]', 'exchange.body = [NSDate date]'),
    ).rejects.toThrow(/incompatible pointer types/)
    await expect(broken('MLREngine.m', '(__bridge void *)self', '(void *)self')).rejects.toThrow(/bridged cast/)
  })

  test('what is plain C compiles as Objective-C too, because its suffix makes Xcode do so', async () => {
    const files = globSync('mlr_*.m', { cwd: SOURCES }).map((file) => path.join(SOURCES, file))
    const language = ['-x', 'objective-c', '-fobjc-arc', '-fobjc-runtime=gnustep-1.8', '-fsyntax-only']
    await run('clang', [...language, '-std=gnu11', '-Wall', '-Wextra', '-Werror', ...files])
  })

  test('nothing is used that Apple wants a reason for, so that the privacy manifest may name none', () => {
    const wanted =
      /\b(NSUserDefaults|systemUptime|mach_absolute_time|f?stat(fs|vfs|at)?\s*\(|lstat\s*\(|f?getattrlist\w*|NSFileModificationDate|NSFileCreationDate|NSURL(Creation|ContentModification)DateKey|NSFileSystem(Free)?Size|NSURLVolumeAvailable\w+|activeInputModes)/
    for (const file of globSync('*.{h,m}', { cwd: SOURCES })) {
      expect(readFileSync(path.join(SOURCES, file), 'utf8'), file).not.toMatch(wanted)
    }
    const manifest = readFileSync(path.join(SOURCES, 'ServiceClientPrivacy.bundle/PrivacyInfo.xcprivacy'), 'utf8')
    expect(manifest.replaceAll(/\s/g, '')).toContain('<key>NSPrivacyAccessedAPITypes</key><array/>')
  })

  function sources(): string[] {
    return globSync('MLR*.m', { cwd: SOURCES })
  }

  async function check(file: string, include: string): Promise<void> {
    const apple = path.join(import.meta.dirname, 'apple')
    const target = ['-target', 'arm64-apple-ios14', '-ffreestanding', '-fblocks', '-fobjc-arc', '-fsyntax-only']
    const strict = ['-Wall', '-Wextra', '-Wno-unused-parameter', '-Werror']
    await run('clang', [...target, ...strict, '-isystem', include, '-isystem', apple, `-I${SOURCES}`, file])
  }
})

/** A folder in which `Cordova/CDVPlugin.h` is that of the host. Fetched once, below node_modules. */
async function includeFolder({ from, headers }: { from: string; headers: string }): Promise<string> {
  const home = path.join(import.meta.dirname, '../../../../../node_modules/.cache', from.replaceAll('/', '-'))
  const found = path.join(home, 'node_modules', headers)
  const include = path.join(home, 'include')
  if (!existsSync(found)) {
    mkdirSync(home, { recursive: true })
    await run('npm', ['install', '--prefix', home, '--ignore-scripts', '--no-save', '--legacy-peer-deps', from])
  }
  if (!existsSync(include)) {
    mkdirSync(include)
    symlinkSync(found, path.join(include, 'Cordova'))
  }
  return include
}
