import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Compiled code is cached beside the installed packages, so every start but the first is fast; threads use the cache,
// too.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../../node_modules/.cache/code', import.meta.url))
enableCompileCache(process.env['NODE_COMPILE_CACHE'])

const { runCommand } = await import('./cli/cli.ts')
const { argv, env, stdin, stdout, stderr } = process

let isServer = false
// If the reader of stdout closes it (`| head`), the program ends silently.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  if (isServer) throw error
  stderr.write(`The output cannot be written: ${error.message}.\n`)
  process.exit(1)
})

const code = await runCommand({
  argv: argv.slice(2),
  env,
  stdin,
  stdout,
  stderr,
  untilStopped: firstStopSignal,
  async start(settings, shownSettings) {
    isServer = true
    const { start } = await import('./start.ts')
    return start({ settings, shownSettings, stdout, stderr, stopped: firstStopSignal() })
  },
})
// A failure of the last write is reported by then.
await new Promise(setImmediate)
// Threads of a start that failed half-way must not keep the process alive.
process.exit(code)

/** Ignores a second signal: a terminal and npm may both send one. */
function firstStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  })
}
