import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { threadName } from 'node:worker_threads'

/*
 * Imported before a program, in each of its threads: appends the thread's name and the URL of every module that it loads
 * to a file, whose name stands in MODULES_LOADED; at its end also the modules of Node itself.
 */
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env['MODULES_LOADED']!, `${threadName} ${url}\n`)
    return nextLoad(url, context)
  },
})

process.on('exit', () => {
  const { moduleLoadList } = process as unknown as { moduleLoadList: readonly string[] }
  appendFileSync(process.env['MODULES_LOADED']!, moduleLoadList.map((name) => `${threadName} ${name}\n`).join(''))
})
