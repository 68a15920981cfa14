import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

/*
 * Imported before a program, in each of its threads: appends the URL of every module that it loads to a file, whose name
 * stands in MODULES_LOADED.
 */
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env['MODULES_LOADED']!, `${url}\n`)
    return nextLoad(url, context)
  },
})
