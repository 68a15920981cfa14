import { workerData } from 'node:worker_threads'
import { type CopyThreadData, serveCopy } from '@millrace/schema-catalog/cluster-threads'

/** The thread that answers questions about the catalog, in each control process. */
serveCopy(workerData as CopyThreadData)
