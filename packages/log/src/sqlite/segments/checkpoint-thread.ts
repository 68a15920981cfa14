import { parentPort, workerData } from 'node:worker_threads'
import { checkpointFile } from './checkpoint.ts'

try {
  checkpointFile(workerData as string)
  parentPort!.postMessage(undefined)
} catch (error) {
  parentPort!.postMessage((error as Error).message)
}
