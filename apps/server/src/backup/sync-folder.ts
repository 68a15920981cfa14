import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Makes names in a folder survive the loss of power. Windows has no way to, and needs none. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
