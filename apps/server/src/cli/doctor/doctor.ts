import { SettingsError } from '../../config/environment.ts'
import type { Settings } from '../../config/settings.ts'
import { loadSettings, settingsList } from '../../config/settings.ts'
import { unknownSettings } from '../../config/unknown-settings.ts'
import { type CommandIo, EXIT } from '../command-io.ts'
import { type Colour, json, oneLine, paintFor } from '../paint.ts'
import { checkBackup } from './backup-check.ts'
import { checkClock, checkDataFolder, checkDisk, checkSecretKey } from './data-folder-check.ts'
import { checkDatabases } from './database-check.ts'
import { checkEgress } from './egress-check.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { checkLog } from './log-check.ts'
import { checkPort } from './port-check.ts'
import { checkThreads } from './threads-check.ts'

export interface DoctorOptions {
  /** Skips reading every record of the log and every page of the databases. */
  readonly quick?: boolean
  readonly json?: boolean
  /** File of a backup to check instead of this machine. */
  readonly backup?: string | undefined
}

const OLDEST_NODE = 24
const COLOURS: Record<Finding['verdict'], Colour> = { ok: 'green', warn: 'yellow', fail: 'red' }

/**
 * Checks this machine for problems, even while the server runs; changes nothing.
 *
 * @returns the exit code: failed if there is a problem.
 */
export async function doctor(options: DoctorOptions, io: CommandIo): Promise<number> {
  const { stdout, env } = io
  const findings: Finding[] = []
  for await (const finding of examine(options, io)) {
    findings.push(finding)
    if (!options.json) stdout.write(`${shown(finding, io)}\n`)
  }
  const failed = findings.filter(({ verdict }) => verdict === 'fail').length
  const warned = findings.filter(({ verdict }) => verdict === 'warn').length
  if (options.json) {
    stdout.write(`${json({ findings })}\n`)
  } else {
    const summary = failed === 0 && warned === 0 ? 'No problems found.' : `${failed} failed, ${warned} to check.`
    stdout.write(`\n${paintFor(stdout, env)('bold', summary)}\n`)
  }
  return failed === 0 ? EXIT.done : EXIT.failed
}

async function* examine(options: DoctorOptions, io: CommandIo): AsyncGenerator<Finding> {
  if (options.backup !== undefined) {
    yield* checkBackup(options.backup, options.quick === true, io)
    return
  }
  yield checkNode(process.versions.node)
  const settings = settingsOrFault(io)
  if (!('dataDir' in settings)) {
    yield settings
    return
  }
  yield* checkSettings(io)
  if (settings.kafkaBrokers !== undefined) {
    yield* examineCluster(settings, io)
    return
  }
  const folder = checkDataFolder(settings.dataDir)
  yield* folder.findings
  yield checkDisk(folder.nearest, settings.minFreeDiskBytes)
  yield checkClock(folder.path, io.clock.now())
  if (folder.exists) {
    yield* checkSecretKey(folder.path, settings.secretKey)
    const reading = { isQuick: options.quick === true, progress: io.stderr }
    yield* checkDatabases(folder.path, reading)
    yield* checkLog(folder.path, reading)
  }
  const port = await checkPort(settings)
  yield port.finding
  yield await checkThreads(settings, port.isMillrace)
  yield* checkEgress(settings)
}

/** One process of a cluster: its machine, and the installation that it belongs to. */
async function* examineCluster(settings: Settings, { clock }: CommandIo): AsyncGenerator<Finding> {
  const folder = checkDataFolder(settings.dataDir)
  yield folder.findings[0]!
  yield checkClock(folder.path, clock.now())
  yield (await checkPort(settings)).finding
  yield* checkEgress(settings)
  // An embedded server loads no module of a cluster. The settings were checked together.
  const { checkCluster } = await import('./cluster/cluster-check.ts')
  yield* checkCluster(settings as Parameters<typeof checkCluster>[0], clock)
}

function shown({ verdict, what, text }: Finding, { stdout, env }: CommandIo): string {
  const paint = paintFor(stdout, env)
  return `${paint(COLOURS[verdict], verdict.padEnd(4))}  ${what.padEnd(11)}  ${oneLine(text, 1_000)}`
}

function checkNode(version: string): Finding {
  const isOldEnough = Number.parseInt(version, 10) >= OLDEST_NODE
  if (isOldEnough) return ok('node', version)
  return fail('node', `${version} is too old: Millrace needs ${OLDEST_NODE} or later, and npm start brings its own`)
}

function settingsOrFault({ env }: CommandIo): Settings | Finding {
  try {
    return loadSettings(env)
  } catch (error) {
    if (error instanceof SettingsError) return fail('settings', error.message.replaceAll('\n', ' | '))
    throw error
  }
}

function checkSettings({ env }: CommandIo): Finding[] {
  const given = settingsList(env).filter(({ isGiven, usedBy }) => isGiven && usedBy === 'server')
  const names = given.length === 0 ? 'all defaults' : `set: ${given.map(({ name }) => name).join(', ')}`
  return [ok('settings', names), ...unknownSettings(env).map((text) => warn('settings', text))]
}
