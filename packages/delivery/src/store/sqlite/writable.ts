import type { SQLInputValue } from 'node:sqlite'

/**
 * Checks the columns of a row. SQLite accepts integers that cannot be read back as numbers, and one such row would
 * break every later read of its table, even after a restart.
 *
 * @throws TypeError for anything but text, bytes, null and safe integers.
 */
export function writable(columns: readonly unknown[]): SQLInputValue[] {
  for (const [i, value] of columns.entries()) {
    if (value === null || typeof value === 'string' || Number.isSafeInteger(value) || value instanceof Uint8Array)
      continue
    throw new TypeError(`column ${i + 1} cannot be stored: ${typeof value === 'number' ? value : typeof value}`)
  }
  return columns as SQLInputValue[]
}
