import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { threadName } from 'node:worker_threads'

/*
 * Imported before a program, in each of its threads: appends the thread's name and the URL of every module that it loads
 * to a file, whose name stands in MODULES_LOADED.
 */
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env['MODULES_LOADED']!, `${threadName} ${url}\n`)
    return nextLoad(url, context)
  },
})
