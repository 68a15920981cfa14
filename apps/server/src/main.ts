import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Compiled code is cached beside the installed packages, so every start but the first is fast; threads use the cache,
// too.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../../node_modules/.cache/code', import.meta.url))
enableCompileCache(process.env['NODE_COMPILE_CACHE'])

const { runCommand } = await import('./cli/cli.ts')
const { argv, env, stdin, stdout, stderr } = process

// If the reader of stdout closes it (`| head`), the program ends silently.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const code = await runCommand({
  argv: argv.slice(2),
  env,
  stdin,
  stdout,
  stderr,
  untilStopped: firstStopSignal,
  async start(settings, shownSettings) {
    const { start } = await import('./start.ts')
    return start({ settings, shownSettings, stdout, stderr, stopped: firstStopSignal() })
  },
})
// Threads of a start that failed half-way must not keep the process alive.
process.exit(code)

/** Ignores a second signal: a terminal and npm may both send one. */
function firstStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  })
}
