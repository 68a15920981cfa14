import type { CopiedMoment } from '@millrace/delivery'
import type { Manifest } from './manifest.ts'

/** What the backup's thread is started with. */
export interface BackupThreadData {
  /** The file under its temporary name. */
  readonly partialFile: string
  /** The folder of the copies that are on their way into the file; removed at the end. */
  readonly workFolder: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** The functions of the backup's thread. */
export type BackupCalls = {
  alignDelivery(moment: CopiedMoment): void
  /** Writes the copies, then the files as they are, then the manifest, and syncs all of it under its final name. */
  write(request: {
    copies: readonly string[]
    files: readonly { name: string; path: string }[]
    head: Omit<Manifest, 'format' | 'members'>
    finalFile: string
  }): void
}
