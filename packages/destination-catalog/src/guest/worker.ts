import { flushCompileCache } from 'node:module'

/*
 * The thread in which the code of the package runs. Everything is closed before the first module of others loads. Its compiled code is
 * kept beside the server's, because compiling is the largest part of the first use.
 */

const KEEP_AFTER_MS = 3_000
const keep = flushCompileCache

const { loadCore } = await import('./core.ts')
const { Engine } = await import('./engine.ts')
const { serve } = await import('./serve.ts')
serve((onBlocked) => new Engine(loadCore(onBlocked)))
setTimeout(keep, KEEP_AFTER_MS)
