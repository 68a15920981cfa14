import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

/*
 * The Java engine of sdks/cordova without an Android SDK: pom.xml says what is fetched from Maven Central, javac compiles,
 * Robolectric runs it on Android's own SQLite. What is fetched stays in the user's cache, about 650 MB, once per pom.xml.
 */

const here = import.meta.dirname
const sdk = path.join(path.dirname(path.dirname(here)), 'sdks/cordova')
const run = promisify(execFile)

/** Kept between runs; the name changes with pom.xml. */
export interface Libraries {
  readonly folder: string
}

export interface Classes {
  readonly libraries: Libraries
  readonly folder: string
}

export interface JavaResult {
  /** Without its package. */
  readonly testClass: string
  readonly name: string
  /** Null: it passed. */
  readonly failure: string | null
}

/** Where it says `SKIPPED`, CI and SDK_REQUIRE_ALL=1 fail instead: there nothing may be missing. */
export const mayBeSkipped = !process.env.CI && process.env.SDK_REQUIRE_ALL !== '1'

/** What this machine lacks for these tests, or null. */
export async function whatIsMissing(): Promise<string | null> {
  for (const [tool, flag] of [
    ['javac', '-version'],
    ['mvn', '-version'],
  ] as const) {
    try {
      await run(tool, [flag])
    } catch {
      return `${tool} not found`
    }
  }
  try {
    await libraries()
    return null
  } catch (error) {
    return `Maven Central not reached (${String(error).slice(0, 300)})`
  }
}

/** Fetches them where that was not done before. */
export async function libraries(): Promise<Libraries> {
  const pom = path.join(here, 'pom.xml')
  const version = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 12)
  const cache = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'millrace')
  const folder = path.join(cache, `sdk-android-${version}`)
  if (await isThere(folder)) return { folder }

  await mkdir(cache, { recursive: true })
  const into = await mkdtemp(path.join(cache, 'fetching-'))
  try {
    await fetchInto(into, pom)
    // Another run may have been faster; what it made is the same.
    await rename(into, folder).catch(() => access(folder))
  } finally {
    await rm(into, { recursive: true, force: true })
  }
  return { folder }
}

async function fetchInto(into: string, pom: string): Promise<void> {
  await run('mvn', ['--quiet', '--batch-mode', '--file', pom, 'generate-resources', `-Dinto=${into}`])
  for (const aar of globSync('{runtime,cordova}/*.aar', { cwd: into })) {
    const of = path.dirname(path.join(into, aar))
    await run('jar', ['--extract', '--file', path.join(into, aar), 'classes.jar'], { cwd: of })
    await rename(path.join(of, 'classes.jar'), path.join(into, aar.replace(/\.aar$/, '.jar')))
  }
}

/**
 * Compiles what the plugin ships.
 *
 * @param release of the language and of the java.* classes that may be used
 * @param api of Android: 24 or 35
 */
export async function compileEngine(release: 8 | 11, api: 24 | 35, into: string): Promise<void> {
  const { folder } = await libraries()
  const android = path.join(folder, `android/api-${api}.jar`)
  const classPath = [android, ...globSync(path.join(folder, 'cordova/*.jar'))].join(path.delimiter)
  const sources = [...java(path.join(sdk, 'src/android')), ...java(path.join(here, 'stubs'))]
  // -classfile: the API jars name annotations that they do not hold. -options: that Java 8 will leave javac some day.
  const lint = `-Xlint:all,-classfile,-options${api === 24 ? ',-deprecation' : ''}`
  await javac(['--release', String(release), '-Werror', lint, '-d', into, '-classpath', classPath, ...sources])
}

/** Compiles engine and tests. */
export async function compileTests(temporary: string): Promise<Classes> {
  const found = await libraries()
  await compileEngine(11, 35, temporary)
  await javac(['-nowarn', '-d', temporary, '-classpath', classPath(found, temporary), ...java(path.join(here, 'java'))])
  return { libraries: found, folder: temporary }
}

/** Runs test classes of org.millrace.cordova in one JVM, with these system properties. */
export async function runTests(
  classes: Classes,
  testClasses: readonly string[],
  properties: Record<string, string> = {},
): Promise<readonly JavaResult[]> {
  const args = jvmArguments(classes, testClasses, properties)
  const { stdout } = await run('java', args, { maxBuffer: 64 * 1024 * 1024 })
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('RESULT\t'))
    .map((line) => {
      const [, outcome, testClass = '', name = '', trace = ''] = line.split('\t')
      const failure = outcome === 'passed' ? null : trace.replaceAll('\\n', '\n')
      return { testClass: testClass.replace(/^.*\./, ''), name, failure }
    })
}

/**
 * Runs a test class that says `STORED <n>` again and again, and kills its process with SIGKILL once n is reached.
 *
 * @returns the last n that it said
 */
export async function killAt(
  n: number,
  classes: Classes,
  testClass: string,
  properties: Record<string, string>,
): Promise<number> {
  const args = jvmArguments(classes, [testClass], properties)
  const started = spawn('java', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = 0
  for await (const line of createInterface(started.stdout)) {
    if (!line.startsWith('STORED\t')) continue
    said = Number(line.slice('STORED\t'.length))
    if (said === n) started.kill('SIGKILL')
  }
  return said
}

export function conformanceFolder(): string {
  return path.join(sdk, 'conformance')
}

/** Of a run of these test classes, with these system properties. */
export function jvmArguments(
  classes: Classes,
  testClasses: readonly string[],
  properties: Record<string, string>,
): string[] {
  return [
    '-Drobolectric.offline=true',
    `-Drobolectric.dependency.dir=${path.join(classes.libraries.folder, 'sandbox')}`,
    `-Dconformance=${conformanceFolder()}`,
    ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-classpath',
    classPath(classes.libraries, classes.folder),
    'org.millrace.cordova.Results',
    ...testClasses.map((name) => `org.millrace.cordova.${name}`),
  ]
}

function classPath(found: Libraries, compiled: string): string {
  const jars = globSync('{runtime,cordova}/*.jar', { cwd: found.folder }).map((jar) => path.join(found.folder, jar))
  return [compiled, ...jars, path.join(found.folder, 'android/api-35.jar')].join(path.delimiter)
}

function java(folder: string): string[] {
  return globSync('**/*.java', { cwd: folder }).map((file) => path.join(folder, file))
}

async function javac(args: readonly string[]): Promise<void> {
  try {
    await run('javac', args, { maxBuffer: 64 * 1024 * 1024 })
  } catch (error) {
    const lines = String((error as { stderr?: string }).stderr ?? error).split('\n')
    throw new Error(lines.filter((line) => !line.includes('Cannot find annotation method')).join('\n'))
  }
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
