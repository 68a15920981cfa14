import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { alignDeliveryCopy } from '@millrace/delivery/delivery-copy'
import { answerCalls } from '@millrace/std/thread-calls'
import type { BackupCalls, BackupThreadData } from './backup-calls.ts'
import { BackupFileWriter } from './backup-file-writer.ts'
import { syncFolder } from './sync-folder.ts'

/** The thread of one backup: it reads and writes gigabytes without blocking the server. */
const { partialFile, workFolder, createdAt } = workerData as BackupThreadData

answerCalls<BackupCalls>({
  alignDelivery: (moment) => alignDeliveryCopy(join(workFolder, 'delivery.db'), moment),
  write({ copies, files, head, finalFile }) {
    {
      using writer = new BackupFileWriter(partialFile, createdAt)
      for (const name of copies) {
        writer.addFile(name, join(workFolder, name))
        rmSync(join(workFolder, name))
      }
      for (const { name, path } of files) addUnlessSetAside(writer, name, path)
      writer.finish(head)
    }
    rmSync(workFolder, { recursive: true, force: true })
    renameSync(partialFile, finalFile)
    syncFolder(dirname(finalFile))
  },
})

/** A segment that was found damaged meanwhile has another name, and is no longer part of the log. */
function addUnlessSetAside(writer: BackupFileWriter, name: string, path: string): void {
  try {
    writer.addFile(name, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(`${path}.damaged`)) throw error
  }
}
