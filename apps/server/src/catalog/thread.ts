import { workerData } from 'node:worker_threads'
import { ForwardReader } from '@millrace/log'
import { type CatalogThreadData, reportUnreadable, serveCatalog } from '@millrace/schema-catalog/thread'
import { systemClock } from '@millrace/std'

/** The thread's data in addition to the catalog's options. */
export interface LogPlace {
  readonly logDirectory: string
}

/** The schema catalog's thread: it reads the log's files itself, so no other thread works for it. */
const data = workerData as CatalogThreadData & LogPlace
const log = new ForwardReader(data.logDirectory, reportUnreadable)
serveCatalog(data, log, systemClock)
