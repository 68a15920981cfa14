import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

/* The C of sdks/cordova/src/ios on this machine: compiled with sanitizers, as the native half of an app (phone.c). */

export const SOURCES = path.join(import.meta.dirname, '../../sdks/cordova/src/ios')
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

/** @returns the program of a process of an app. */
export async function compilePhone({ program }: Compiler, into: string): Promise<string> {
  const phone = path.join(into, 'phone')
  // phone.c includes mlr_core.m.
  const plugin = globSync('mlr_*.m', { cwd: SOURCES }).filter((file) => file !== 'mlr_core.m')
  const own = globSync('*.c', { cwd: import.meta.dirname })
  const sources = [
    ...plugin.map((file) => path.join(SOURCES, file)),
    ...own.map((file) => path.join(import.meta.dirname, file)),
  ]
  await run(program, [...LANGUAGE, ...SANITIZERS, `-I${SOURCES}`, ...sources, ...LIBRARIES, '-o', phone])
  return phone
}
