import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { size } from '../paint.ts'

/** A temporary folder for copies of what may not be touched where it lies. It goes with all that is in it. */
export class ScratchFolder implements Disposable {
  readonly path: string

  /** @returns undefined where the disk has no room for so much. */
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

/** To be said of a copy that there is no room for. */
export function roomNeeded(bytes: number): string {
  return `needs ${size(bytes)} in ${tmpdir()}; skip it with --quick`
}
