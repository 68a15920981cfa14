import { runCommand } from './cli/cli.ts'
import { settingsInForce } from './config/settings.ts'
import { start } from './start.ts'

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
  start: (settings) =>
    start({ settings, shownSettings: settingsInForce(env), stdout, stderr, stopped: firstStopSignal() }),
})
// Threads of a start that failed half-way must not keep the process.
process.exit(code)

/** A second signal, as a terminal and npm may both send it, changes nothing. */
function firstStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  })
}
