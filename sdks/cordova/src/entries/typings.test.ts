import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { ServiceClientMethods as Typed } from '../../types/index.d.ts'
import type { ServiceClientMethods } from '../core/calls/methods.ts'
import { SDK_VERSION } from '../core/version.ts'

const FOLDER = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8')

test('the typings have the methods of the core, with the same answers', () => {
  type Answers<Methods> = {
    [Name in keyof Methods]: Methods[Name] extends (...given: never[]) => infer A ? A : Methods[Name]
  }
  const asTyped = (answers: Answers<ServiceClientMethods>): Answers<Typed> => answers
  const asMade = (answers: Answers<Typed>): Answers<ServiceClientMethods> => answers
  expect([asTyped, asMade]).toHaveLength(2)
})

test('they compile under strict without a DOM library, as import and as global', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-typings-'))
  const app = `import { LogLevel, ServiceClient as Imported, type Configuration, type Options } from 'service-sdk-cordova'
    const configuration: Configuration = { logLevel: LogLevel.DEBUG, dataPlaneUrl: 'https://example.com' }
    const options: Options = { integrations: { All: false, Webhook: true }, externalIds: { crm: 7 } }
    export async function run(): Promise<string> {
      const { warnings } = await ServiceClient.initialize('key', configuration, options)
      const { status, messageId } = await Imported.track('A', { price: 3 }, options)
      await ServiceClient.identify('u', options)
      // @ts-expect-error: a key is needed
      await ServiceClient.initialize()
      return [status, messageId, ...warnings, (await ServiceClient.flush()).reason].join()
    }`
  mkdirSync(path.join(folder, 'node_modules'))
  symlinkSync(FOLDER, path.join(folder, 'node_modules/service-sdk-cordova'))
  writeFileSync(path.join(folder, 'app.ts'), app)
  const compilerOptions = {
    noEmit: true,
    strict: true,
    lib: ['es2017'],
    types: [],
    module: 'esnext',
    moduleResolution: 'bundler',
  }
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }))
  const compiler = path.join(FOLDER, '../../node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect(stdout).toBe('')
})

test('core, package.json and plugin.xml name the same version', () => {
  expect(JSON.parse(read('package.json')).version).toBe(SDK_VERSION)
  expect(read('plugin.xml')).toContain(`<plugin id="service-sdk-cordova" version="${SDK_VERSION}"`)
})
