import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = path.join(import.meta.dirname, '../..')
const CORDOVA = '13.0.0'
const PLATFORMS = { android: '15.1.0', browser: '7.0.0', ios: '8.1.1' } as const

/** A Cordova app in a folder of its own, made with the Cordova of the npm registry. Goes with the test. */
export class CordovaApp implements Disposable {
  readonly folder: string
  private readonly home: string
  private readonly cli: string

  /** With a platform added, the plugin added from its tarball, and prepared. `www`: files of the app by name. */
  static async make(platform: keyof typeof PLATFORMS, www: Readonly<Record<string, string>>): Promise<CordovaApp> {
    const app = new CordovaApp(await cordovaCli())
    try {
      await app.cordova(app.home, 'create', 'app', 'com.example.shop', 'Shop')
      for (const [file, text] of Object.entries(www)) writeFileSync(path.join(app.folder, 'www', file), text)
      await app.cordova(app.folder, 'platform', 'add', `${platform}@${PLATFORMS[platform]}`)
      await app.cordova(app.folder, 'plugin', 'add', `file:${await packedPlugin(app.home)}`)
      await app.cordova(app.folder, 'prepare', platform)
      return app
    } catch (error) {
      app[Symbol.dispose]()
      throw error
    }
  }

  private constructor(cli: string) {
    this.cli = cli
    this.home = mkdtempSync(path.join(tmpdir(), 'millrace-cordova-'))
    this.folder = path.join(this.home, 'app')
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true })
  }

  private async cordova(cwd: string, ...given: readonly string[]): Promise<void> {
    // Cordova asks a newcomer whether it may collect statistics, unless it is told not to.
    const env = { ...process.env, CI: '1', HOME: this.home, npm_config_cache: npmCache() }
    await run(process.execPath, [this.cli, ...given, '--no-telemetry'], { cwd, env })
  }
}

/** `npm pack` of the package, as it is published: prepack builds it. @returns the path of the tarball. */
export async function packedPlugin(into: string): Promise<string> {
  const folder = path.join(ROOT, 'sdks/cordova')
  await run('npm', ['pack', '--ignore-scripts=false', '--pack-destination', into], { cwd: folder })
  const tarball = readdirSync(into).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm pack made no tarball')
  return path.join(into, tarball)
}

/** Installed once, below node_modules, where git and the tests of the tree do not look. */
async function cordovaCli(): Promise<string> {
  const folder = path.join(ROOT, `node_modules/.cache/cordova-${CORDOVA}`)
  const cli = path.join(folder, 'node_modules/cordova/bin/cordova')
  if (!existsSync(cli)) {
    mkdirSync(folder, { recursive: true })
    await run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-save', `cordova@${CORDOVA}`])
  }
  return cli
}

function npmCache(): string {
  return path.join(ROOT, 'node_modules/.cache/npm')
}
