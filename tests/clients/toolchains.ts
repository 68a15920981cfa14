import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

/*
 * How published client libraries are fetched, each by the ordinary client of its registry in the version that is named, and
 * how a program that uses them is built. What was fetched is kept, outside of git, below a name that changes with the versions.
 */

const CACHE = path.join(import.meta.dirname, '../../node_modules/.cache/clients')
export const DRIVERS = path.join(import.meta.dirname, 'drivers')
const FETCH_MS = 540_000

/** A program that can be started with more environment variables. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
}

export interface Toolchain {
  /** In its own language: `rust`. */
  readonly language: string
  /** @param source text of a whole program; it may import what the toolchain fetched. */
  build(name: string, source: string): Promise<Program>
}

const execute = promisify(execFile)
const run = (folder: string, command: string, ...args: string[]) =>
  execute(command, args, { cwd: folder, timeout: FETCH_MS, maxBuffer: 64 * 1024 * 1024 })

/** @param versions by package name. @returns the folder that holds them in `node_modules`. */
export function nodeFolder(versions: Readonly<Record<string, string>>): Promise<string> {
  return once(`node-${digest(versions)}`, async (place) => {
    await writeFile(
      path.join(place, 'package.json'),
      JSON.stringify({ private: true, type: 'module', dependencies: versions }),
    )
    await run(place, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error')
  })()
}

/** @param versions by package name. */
export function node(versions: Readonly<Record<string, string>>): Toolchain {
  const folder = () => nodeFolder(versions)
  return {
    language: 'js',
    async build(name, source) {
      const place = await folder()
      const file = path.join(place, `${name}.mjs`)
      await writeFile(file, source)
      await copyFile(path.join(DRIVERS, 'scenarios.mjs'), path.join(place, 'scenarios.mjs'))
      return { command: process.execPath, args: [file] }
    },
  }
}

export function python(versions: Readonly<Record<string, string>>): Toolchain {
  const folder = once(`python-${digest(versions)}`, async (place) => {
    await run(place, 'python3', '-m', 'venv', 'venv')
    const wanted = Object.entries(versions).map(([name, version]) => `${name}==${version}`)
    await run(place, 'venv/bin/pip', 'install', '--quiet', '--disable-pip-version-check', ...wanted)
  })
  return {
    language: 'python',
    async build(name, source) {
      const place = await folder()
      const file = path.join(place, `${name}.py`)
      await writeFile(file, source)
      await copyFile(path.join(DRIVERS, 'scenarios.py'), path.join(place, 'scenarios.py'))
      return { command: path.join(place, 'venv/bin/python'), args: [file] }
    },
  }
}

export function go(versions: Readonly<Record<string, string>>): Toolchain {
  const folder = once(`go-${digest(versions)}`, async (place) => {
    await run(place, 'go', 'mod', 'init', 'clients')
    await run(place, 'go', 'get', ...Object.entries(versions).map(([name, version]) => `${name}@v${version}`))
  })
  return {
    language: 'go',
    async build(name, source) {
      const place = await folder()
      await mkdir(path.join(place, name), { recursive: true })
      await writeFile(path.join(place, name, 'main.go'), source)
      const program = path.join(place, name, 'program')
      await run(place, 'go', 'build', '-o', program, `./${name}`)
      return { command: program, args: [] }
    },
  }
}

/** @param versions by `group:artifact`. @returns the folder that holds them in `libs`. */
function mavenFolder(versions: Readonly<Record<string, string>>): () => Promise<string> {
  return once(`java-${digest(versions)}`, async (place) => {
    await writeFile(path.join(place, 'pom.xml'), pom(versions))
    await run(
      place,
      'mvn',
      '-q',
      `${DEPENDENCY_PLUGIN}:copy-dependencies`,
      '-DincludeScope=runtime',
      '-DoutputDirectory=libs',
    )
  })
}

/** @param versions by `group:artifact`. */
export function java(versions: Readonly<Record<string, string>>): Toolchain {
  const folder = mavenFolder(versions)
  return {
    language: 'java',
    async build(name, source) {
      const place = await folder()
      const classes = path.join(place, name)
      await mkdir(classes, { recursive: true })
      await writeFile(path.join(classes, 'Main.java'), source)
      await run(place, 'javac', '-cp', 'libs/*', '-d', classes, path.join(classes, 'Main.java'))
      return { command: 'java', args: ['-cp', `${classes}${path.delimiter}${path.join(place, 'libs/*')}`, 'Main'] }
    },
  }
}

/** @param versions by `group:artifact`. */
export function kotlin(versions: Readonly<Record<string, string>>): Toolchain {
  const folder = mavenFolder(versions)
  const compiler = mavenFolder({ 'org.jetbrains.kotlin:kotlin-compiler-embeddable': '1.9.25' })
  return {
    language: 'kotlin',
    async build(name, source) {
      const [place, tools] = await Promise.all([folder(), compiler()])
      const libs = (await readdir(path.join(place, 'libs'))).map((each) => path.join(place, 'libs', each))
      const classes = path.join(place, name)
      await mkdir(classes, { recursive: true })
      await writeFile(path.join(classes, 'Main.kt'), source)
      const compile = ['-no-stdlib', '-no-reflect', '-cp', libs.join(path.delimiter), '-d', classes]
      const program = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler'
      await run(place, 'java', '-cp', path.join(tools, 'libs/*'), program, ...compile, path.join(classes, 'Main.kt'))
      return { command: 'java', args: ['-cp', [classes, ...libs].join(path.delimiter), 'MainKt'] }
    },
  }
}

/** @param dependencies lines of Cargo.toml. */
export function rust(dependencies: readonly string[]): Toolchain {
  const folder = once(`rust-${digest(dependencies)}`, async (place) => {
    await mkdir(path.join(place, 'src/bin'), { recursive: true })
    await writeFile(path.join(place, 'src/lib.rs'), '')
    const head = '[package]\nname = "clients"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n'
    await writeFile(path.join(place, 'Cargo.toml'), `${head}${dependencies.join('\n')}\n\n[workspace]\n`)
    await run(place, 'cargo', 'build', '--quiet')
  })
  return {
    language: 'rust',
    async build(name, source) {
      const place = await folder()
      await writeFile(path.join(place, 'src/bin', `${name}.rs`), source)
      await run(place, 'cargo', 'build', '--quiet', '--bin', name)
      return { command: path.join(place, 'target/debug', name), args: [] }
    },
  }
}

/** A folder that is filled on first use, by this run or an earlier one. */
function once(name: string, fill: (place: string) => Promise<void>): () => Promise<string> {
  let ready: Promise<string> | undefined
  return () => {
    ready ??= (async () => {
      const place = path.join(CACHE, name)
      const mark = path.join(place, '.filled')
      if (existsSync(mark)) return place
      await mkdir(place, { recursive: true })
      await fill(place)
      await writeFile(mark, '')
      return place
    })()
    return ready
  }
}

function digest(what: object): string {
  return hash('sha256', JSON.stringify(what)).slice(0, 12)
}

/** @param file below `drivers`. */
export function driver(file: string): Promise<string> {
  return readFile(path.join(DRIVERS, file), 'utf8')
}

const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1'

function pom(versions: Readonly<Record<string, string>>): string {
  const dependencies = Object.entries(versions).map(([name, version]) => {
    const [group, artifact] = name.split(':')
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`
  })
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>clients</groupId><artifactId>clients</artifactId><version>0</version>
<dependencies>${dependencies.join('')}</dependencies></project>`
}
