import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Compiled code is kept beside the installed packages, so that every start but the first is fast; threads look here, too.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../../node_modules/.cache/code', import.meta.url))
enableCompileCache(process.env['NODE_COMPILE_CACHE'])

const { runCommand } = await import('./cli/cli.ts')
const { argv, env, stdin, stdout, stderr } = process

// A reader that has seen enough (`| head`) is no reason to say more.
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
  async start(settings) {
    const { settingsInForce } = await import('./config/settings.ts')
    const { start } = await import('./start.ts')
    return start({ settings, shownSettings: settingsInForce(env), stdout, stderr, stopped: firstStopSignal() })
  },
})
// Threads of a start that failed half-way must not keep the process.
process.exit(code)

/** A second signal, as a terminal and npm may both send it, changes nothing. */
function firstStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  })
}
