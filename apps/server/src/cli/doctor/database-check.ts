import { copyFileSync, existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Output } from '../command-io.ts'
import { commandLine } from '../command-line.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { roomNeeded, ScratchFolder } from './scratch-folder.ts'

/** Databases of a data folder outside the log, and the advice if one is damaged. */
const DATABASES: Readonly<Record<string, string>> = {
  'control.db': 'restore a backup',
  'delivery.db': 'restore a backup',
  'catalog.db': `rebuild it from the log: ${commandLine(['schema', 'rebuild'])}`,
}
export const DATABASE_NAMES: readonly string[] = Object.keys(DATABASES)

export interface DatabaseCheckOptions {
  /** Skips reading every page. */
  readonly isQuick: boolean
  readonly progress: Output
}

/** Checks every page and index of the databases in a folder, while a server may have them open. */
export function* checkDatabases(folder: string, { isQuick, progress }: DatabaseCheckOptions): Generator<Finding> {
  const files = DATABASE_NAMES.map((name) => join(folder, name)).filter((file) => existsSync(file))
  if (files.length === 0) return
  if (isQuick) {
    yield ok('databases', 'not read (--quick)')
    return
  }
  const whole: string[] = []
  for (const file of files) {
    if (progress.isTTY) progress.write(`\rreading ${file}`)
    const finding = examined(file)
    if (progress.isTTY) progress.write('\r\u001b[K')
    if (finding === undefined) whole.push(basename(file))
    else yield finding
  }
  if (whole.length > 0) yield ok('databases', `${whole.join(', ')}: every page and index fits`)
}

/** @returns the problems of a database. */
function examined(file: string): Finding | undefined {
  try {
    const fault = faultOf(file)
    return fault === undefined ? undefined : damaged(file, fault)
  } catch (error) {
    if (error instanceof NoRoomError) return warn('databases', error.message)
    return damaged(file, (error as Error).message)
  }
}

function damaged(file: string, fault: string): Finding {
  return fail('databases', `${file} is damaged (${fault}): ${DATABASES[basename(file)]}`)
}

/**
 * SQLite creates files beside a database even to read it, unless a server has created them: this check must change
 * nothing.
 */
function faultOf(file: string): string | undefined {
  if (existsSync(`${file}-shm`)) return integrity(new DatabaseSync(file, { readOnly: true, timeout: 5_000 }))
  if (bytesOf(`${file}-wal`) > 0) return faultOfCopy(file)
  const location = pathToFileURL(file)
  location.search = '?immutable=1'
  return integrity(new DatabaseSync(location, { readOnly: true }))
}

/** No process has the database open, but its WAL is part of it. */
function faultOfCopy(file: string): string | undefined {
  const needed = 2 * (bytesOf(file) + bytesOf(`${file}-wal`))
  using folder = ScratchFolder.forBytes(needed)
  if (folder === undefined) throw new NoRoomError(file, needed)
  const copy = join(folder.path, 'copy.db')
  for (const ending of ['', '-wal']) copyFileSync(file + ending, copy + ending)
  return integrity(new DatabaseSync(copy))
}

function integrity(opened: DatabaseSync): string | undefined {
  using database = opened
  const { integrity_check: said } = database.prepare('PRAGMA integrity_check(1)').get() as { integrity_check: string }
  return said === 'ok' ? undefined : said.replaceAll(/\s+/g, ' ')
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

class NoRoomError extends Error {
  override readonly name = 'NoRoomError'
  readonly code = 'no_room'

  constructor(file: string, needed: number) {
    super(`${file} was not read: a copy of it ${roomNeeded(needed)}`)
  }
}
