import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export const ROOT = path.resolve(import.meta.dirname, '../..')

const COPIED = [
  'packages/destinations/src',
  'packages/destinations/package.json',
  'docs/destinations',
  'docs/README.md',
  'docs/contracts/destinations.md',
  'tsconfig.json',
  'biome.json',
  'vitest.config.ts',
  'package.json',
  '.gitignore',
]

/** The destination types and their guides in a folder of their own, where a program may write. */
export class CheckoutCopy implements Disposable {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'millrace-types-'))

  constructor() {
    for (const each of COPIED) {
      mkdirSync(path.dirname(path.join(this.folder, each)), { recursive: true })
      cpSync(path.join(ROOT, each), path.join(this.folder, each), { recursive: true })
    }
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(this.folder, 'node_modules'))
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true })
  }
}
