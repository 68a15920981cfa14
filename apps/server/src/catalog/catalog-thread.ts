import { workerData } from 'node:worker_threads'
import { ForwardReader } from '@millrace/log/forward-reader'
import {
  type CatalogLog,
  type CatalogThreadData,
  reportUnreadable,
  serveCatalog,
} from '@millrace/schema-catalog/thread'
import { systemClock } from '@millrace/std/clock'

/** The thread's data in addition to the catalog's options. */
export interface LogPlace {
  readonly logDirectory: string
}

/** The schema catalog's thread: it reads the log's files itself, so no other thread works for it. */
const data = workerData as CatalogThreadData & LogPlace
const reader = new ForwardReader(data.logDirectory, reportUnreadable)
const log: CatalogLog = {
  read: (stream, from, end, maxBytes) => reader.readAll(stream, from, end, maxBytes),
  release: () => reader.release(),
}
serveCatalog(data, log, systemClock)
