import { loadSettings, settingsInForce } from './config/settings.ts'
import { start } from './start.ts'

/** Resolves at the first signal; a second one, as a terminal and npm may both send it, changes nothing. */
const stopped = new Promise<string>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
})

process.exitCode = await start({
  settings: loadSettings(process.env),
  shownSettings: settingsInForce(process.env),
  stdout: process.stdout,
  stderr: process.stderr,
  stopped,
})
process.exit()
