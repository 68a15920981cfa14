import type { CopiedMoment } from '@millrace/delivery'
import type { Manifest } from './manifest.ts'

/** The data that starts the backup's thread. */
export interface BackupThreadData {
  /** The file under its temporary name. */
  readonly partialFile: string
  /** Folder of the copies that go into the file; removed at the end. */
  readonly workFolder: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** The functions of the backup's thread. */
export type BackupCalls = {
  alignDelivery(moment: CopiedMoment): void
  /** Writes the copies, then the unchanged files, then the manifest; syncs the file and gives it its final name. */
  write(request: {
    copies: readonly string[]
    files: readonly { name: string; path: string }[]
    head: Omit<Manifest, 'format' | 'members'>
    finalFile: string
  }): void
}
