import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Makes the names in a folder survive power loss. Windows needs no such step, and has none. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
