import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { size } from '../paint.ts'

/** A temporary folder for copies of files that must not change. It is removed with its content. */
export class ScratchFolder implements Disposable {
  readonly path: string

  /** @returns undefined if the disk has too little space. */
  static forBytes(bytes: number): ScratchFolder | undefined {
    const { bavail, bsize } = statfsSync(tmpdir())
    return bavail * bsize < bytes ? undefined : new ScratchFolder()
  }

  private constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'millrace-doctor-'))
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Text for a copy that does not fit on the disk. */
export function roomNeeded(bytes: number): string {
  return `needs ${size(bytes)} in ${tmpdir()}; skip it with --quick`
}
