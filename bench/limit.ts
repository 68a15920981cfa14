import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Program } from './programs.ts'

/** Limits take any write key; the same bytes go to both sides. */
export const ANY_WRITE_KEY = '3PS3MKgFh6ZTxDaxUjKBsLaUg1r'

const files = {
  accept: new URL('./limits/accept-main.ts', import.meta.url).pathname,
  deliver: new URL('./limits/deliver-main.ts', import.meta.url).pathname,
}

export type LimitName = keyof typeof files

/** @param options of `deliver`: where it posts to and, for lists, how many events at most. */
export function startLimit(name: LimitName, ...options: readonly string[]): Promise<Program> {
  return Program.start({ command: (folder) => [files[name], databaseFile(folder), ...options] })
}

/** Requests that the limit has stored. */
export function storedRequests(limit: Program): number {
  using database = new DatabaseSync(databaseFile(limit.folder), { readOnly: true })
  return Number(database.prepare('SELECT count(*) AS count FROM record').get()!['count'])
}

function databaseFile(folder: string): string {
  return path.join(folder, 'log.db')
}
