import { workerData } from 'node:worker_threads'
import { framedRecords } from '@millrace/log'
import { type CounterThreadData, serveCounter } from '@millrace/schema-catalog/cluster-threads'

/** The thread that counts for the whole cluster, in the process that holds the lease. */
serveCounter(workerData as CounterThreadData, framedRecords)
