import { workerData } from 'node:worker_threads'
import { ForwardReader } from '@millrace/log'
import { type CatalogThreadData, reportUnreadable, serveCatalog } from '@millrace/schema-catalog/thread'
import { systemClock } from '@millrace/std'

/** What the catalog's thread is given beside what the catalog needs. */
export interface LogPlace {
  readonly logDirectory: string
}

/** The schema catalog's thread: it reads the files of the log itself, so that no other thread has work with it. */
const data = workerData as CatalogThreadData & LogPlace
const log = new ForwardReader(data.logDirectory, reportUnreadable)
serveCatalog(data, log, systemClock)
