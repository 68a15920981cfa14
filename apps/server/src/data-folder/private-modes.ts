import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const OTHERS = 0o077

export interface CorrectedModes {
  readonly corrected: number
  /** Files of another user, which this user cannot change. */
  readonly failed: number
}

/**
 * Removes the rights of all users but the owner from a folder and its content: folders get 0700, files 0600. It does
 * not touch links, and does nothing on Windows, which has no such modes.
 */
export function makePrivate(path: string): CorrectedModes {
  const counts = { corrected: 0, failed: 0 }
  if (process.platform !== 'win32') visit(path, counts)
  return counts
}

function visit(path: string, counts: { corrected: number; failed: number }): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined || stat.isSymbolicLink()) return
  if ((stat.mode & OTHERS) !== 0) {
    try {
      chmodSync(path, stat.isDirectory() ? 0o700 : 0o600)
      counts.corrected++
    } catch {
      counts.failed++
    }
  }
  if (stat.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name), counts)
}
