import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DATA_FORMAT, missingDatabase, missingSecretKey } from '../../data-folder/data-folder.ts'
import { size } from '../paint.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

export interface ExaminedFolder {
  readonly path: string
  readonly exists: boolean
  /** The folder or, if it does not exist, its parent. */
  readonly nearest: string
  readonly findings: readonly Finding[]
}

export function checkDataFolder(given: string): ExaminedFolder {
  const path = resolve(given)
  const nearest = nearestExisting(path)
  const refused = accessRefused(nearest)
  if (nearest !== path) {
    const finding =
      refused === undefined
        ? ok('data folder', `${path} does not exist yet; the first start creates it`)
        : fail(
            'data folder',
            `${path} cannot be created: ${nearest} is not writable (${refused}): set MILLRACE_DATA_DIR`,
          )
    return { path, exists: false, nearest, findings: [finding] }
  }
  if (!statSync(path).isDirectory()) {
    return { path, exists: false, nearest: dirname(path), findings: [fail('data folder', `${path} is not a folder`)] }
  }
  const access =
    refused === undefined
      ? ok('data folder', `${path} is readable and writable`)
      : fail('data folder', `${path} cannot be used (${refused}): give this user read and write access`)
  return {
    path,
    exists: true,
    nearest,
    findings: [access, ...checkFormat(path), ...checkCompleteness(path), ...checkSecrets(path)],
  }
}

/** Compares free space with the floor below which the server stops accepting events. */
export function checkDisk(folder: string, floorBytes: number): Finding {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const facts = `${size(free)} free, floor ${floorBytes === 0 ? 'off' : size(floorBytes)}`
  if (free < floorBytes) return fail('disk', `${facts}: events are refused until space is freed`)
  if (free < 2 * floorBytes) return warn('disk', `${facts}: close to the floor, below which events are refused`)
  return ok('disk', facts)
}

const EARLIEST = Date.UTC(2025, 0, 1)
const TOLERANCE_MS = 60_000

/** File times must be in the past, unless a clock is wrong. */
export function checkClock(folder: string, now: number): Finding {
  const shown = new Date(now).toISOString()
  if (now < EARLIEST) return fail('clock', `${shown} is in the past: set the clock of this machine`)
  const newest = Math.max(0, ...filesOf(folder).map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0))
  if (newest > now + TOLERANCE_MS) {
    const written = new Date(newest).toISOString()
    return warn('clock', `${shown}, but the data folder was written at ${written}: the clock is or was wrong`)
  }
  return ok('clock', shown)
}

function filesOf(folder: string): string[] {
  return [folder, join(folder, 'log')].flatMap((each) => {
    if (!existsSync(each) || !statSync(each).isDirectory()) return []
    return readdirSync(each).map((name) => join(each, name))
  })
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
}

function accessRefused(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

function checkFormat(path: string): Finding[] {
  const file = join(path, 'format')
  if (!existsSync(file)) {
    const isEmpty = readdirSync(path).length === 0
    if (isEmpty) return [ok('format', 'none yet: the folder is empty')]
    return [warn('format', `${file} is missing, yet the folder is not empty: is this the right folder?`)]
  }
  const text = readFileSync(file, 'utf8').trim()
  const format = Number(text)
  if (!/^\d+$/.test(text)) return [fail('format', `${file} does not hold a number`)]
  if (format > DATA_FORMAT) {
    return [fail('format', `${format} is from a newer version of Millrace; this one supports ${DATA_FORMAT}`)]
  }
  return [ok('format', String(format))]
}

/** What a start would refuse. */
function checkCompleteness(path: string): Finding[] {
  const database = missingDatabase(path)
  return database === undefined
    ? []
    : [fail('databases', `${database} is missing: restore the file or a backup; without it the server does not start`)]
}

/** @param given MILLRACE_SECRET_KEY */
export function checkSecretKey(path: string, given: Uint8Array | undefined): Finding[] {
  const missing = given === undefined ? missingSecretKey(path) : undefined
  return missing === undefined ? [] : [fail('secrets', missing)]
}

const SECRET_FILES = ['secret.key', 'cli-token', 'inbox.key']

/** Files that only the server's user may read. */
function checkSecrets(path: string): Finding[] {
  if (process.platform === 'win32') return []
  return SECRET_FILES.map((name) => join(path, name))
    .filter((file) => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0)
    .map((file) => warn('secrets', `other users can read ${file}: chmod 600 ${file}`))
}
