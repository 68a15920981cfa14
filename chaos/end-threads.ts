import type { Worker } from 'node:worker_threads'

/*
 * Loaded into the server's process before its own code (`node --import`), by tests and chaos programs alone: ends one of its
 * threads, or throws where nothing catches, when its parent says so. The product has no such switch.
 */

/** What a parent may say over the process channel. */
export type EndMessage =
  | { readonly end: string }
  | { readonly throwUnhandled: 'exception' | 'rejection' }
  | { readonly listThreads: true }

/** Names a thread that ends as soon as it has begun to start. */
const END_AT_START = process.env['END_THREAD_AT_START']

const threads = new Map<string, Worker>()
process.on('worker', (worker) => {
  const name = worker.threadName ?? ''
  threads.set(name, worker)
  if (name === END_AT_START) void worker.terminate()
  worker.once('exit', () => {
    if (threads.get(name) === worker) threads.delete(name)
  })
})

process.on('message', (message: EndMessage) => {
  if ('end' in message) void threads.get(message.end)?.terminate()
  else if ('listThreads' in message) process.send?.({ threads: [...threads.keys()] })
  else if (message.throwUnhandled === 'rejection') void Promise.reject(new Error('a rejection of a test'))
  else
    setImmediate(() => {
      throw new Error('an exception of a test')
    })
})
process.channel?.unref()
