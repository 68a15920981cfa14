import { existsSync, renameSync, rmSync } from 'node:fs'

/** Result codes of SQLite: the file is damaged, or no database. */
const DAMAGED = new Set([11, 26])

/** Whether an error of SQLite says that the file cannot be used any more, and not that it is locked, or the disk is full. */
export function isDamaged(error: unknown): boolean {
  const { errcode } = error as { errcode?: number }
  return errcode !== undefined && DAMAGED.has(errcode & 0xff)
}

/** Puts a damaged database in the place of the last one, under names that SQLite opens together. */
export function setAside(file: string): void {
  removeSetAside(file)
  for (const suffix of ['', '-wal']) {
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${file}.damaged${suffix}`)
  }
  rmSync(`${file}-shm`, { force: true })
}

/** Also what earlier versions set aside. */
export function removeSetAside(file: string): void {
  for (const end of ['.damaged', '.damaged-wal', '.damaged-shm', '-wal.damaged', '-shm.damaged']) {
    rmSync(`${file}${end}`, { force: true })
  }
}
