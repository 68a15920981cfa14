import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

/* The C of sdks/cordova/src/ios on this machine: compiled with sanitizers, as the native half of an app (phone.c). */

export const SOURCES = path.join(import.meta.dirname, '../../ios')
export const run = promisify(execFile)

/** Where it says `SKIPPED`, CI and SDK_REQUIRE_ALL=1 fail instead: there nothing may be missing. */
export const mayBeSkipped = !process.env.CI && process.env.SDK_REQUIRE_ALL !== '1'

/** Of `mlr_*.m`, whatever their suffix says. */
const LANGUAGE = ['-x', 'c', '-std=gnu11', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror']
const SANITIZERS = ['-g', '-O1', '-fno-omit-frame-pointer', '-fsanitize=address,undefined', '-fno-sanitize-recover=all']
const LIBRARIES = ['-lsqlite3', '-lz']

/** A compiler whose programs run with both sanitizers, SQLite and zlib. */
export interface Compiler {
  readonly program: string
}

/** @returns what is missing where there is none. */
export async function findCompiler(): Promise<Compiler | string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-compiler-'))
  const [source, made] = [path.join(folder, 'a.c'), path.join(folder, 'a')]
  writeFileSync(
    source,
    '#include <sqlite3.h>\n#include <zlib.h>\nint main(void) { return !sqlite3_libversion() || !zlibVersion(); }\n',
  )
  let trouble = ''
  try {
    for (const program of ['clang', 'gcc']) {
      try {
        await run(program, [...LANGUAGE, ...SANITIZERS, source, '-x', 'none', ...LIBRARIES, '-o', made])
        await run(made, [])
        return { program }
      } catch (error) {
        trouble += `${program}: ${String((error as { stderr?: string }).stderr || error).slice(0, 300)}\n`
      }
    }
    return `no C compiler with sanitizers, SQLite and zlib headers found\n${trouble}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Every C file of the plugin by itself, as strictly as the compiler can. @param more flags */
export async function compileStrictly(compiler: Compiler, into: string, more: readonly string[] = []): Promise<void> {
  const sources = globSync('mlr_*.m', { cwd: SOURCES }).map((file) => path.join(SOURCES, file))
  await run(compiler.program, [...LANGUAGE, ...more, '-c', ...sources], { cwd: into })
}

/** @returns the program of a process of an app. Compiled once, below node_modules, for what its sources are now. */
export async function compilePhone({ program }: Compiler): Promise<string> {
  // phone.c includes mlr_core.m.
  const plugin = globSync('mlr_*.m', { cwd: SOURCES }).filter((file) => file !== 'mlr_core.m')
  const own = globSync('*.c', { cwd: import.meta.dirname })
  const sources = [
    ...plugin.map((file) => path.join(SOURCES, file)),
    ...own.map((file) => path.join(import.meta.dirname, file)),
  ]
  const flags = [...LANGUAGE, ...SANITIZERS, `-I${SOURCES}`]
  const hash = createHash('sha256').update(JSON.stringify([program, flags]))
  for (const file of [...globSync('mlr_*', { cwd: SOURCES }).toSorted()])
    hash.update(readFileSync(path.join(SOURCES, file)))
  for (const file of globSync('*.[ch]', { cwd: import.meta.dirname }).toSorted()) {
    hash.update(readFileSync(path.join(import.meta.dirname, file)))
  }
  const cache = path.join(import.meta.dirname, '../../../../../node_modules/.cache')
  const phone = path.join(cache, `ios-phone-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(phone)) return phone
  mkdirSync(cache, { recursive: true })
  const made = `${phone}-${process.pid}`
  await run(program, [...flags, ...sources, '-x', 'none', ...LIBRARIES, '-o', made])
  // Another test may have been faster; what it made is the same.
  renameSync(made, phone)
  return phone
}
