import { writeFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { builtDashboard } from '@millrace/dashboard'
import { isLoopbackHost } from '@millrace/delivery'
import { type ComposeOptions, compose, type Product } from './compose.ts'
import type { Settings } from './config/settings.ts'
import { DataFolder, DataFolderError } from './data-folder/data-folder.ts'
import { FAULT_EXIT_CODE, FAULT_GRACE_MS, Faults, lastLine } from './faults.ts'
import { setHeapFlags } from './heap-flags.ts'
import { Front, ListenError } from './http/front.ts'
import { newLogger, type ServerLogger } from './logger.ts'
import { moveInbox } from './quickstart/move-inbox.ts'
import { printedCommands } from './quickstart/printed-commands.ts'
import { runQuickstart } from './quickstart/quickstart.ts'
import { collectStartGarbage } from './start-garbage.ts'
import { VERSION } from './version.ts'

/** Errors that a person can correct: their text suffices. Other errors are shown with their stack. */
const EXPECTED = [
  ...['NEWER_SCHEMA', 'owner_setting', 'wrong_secret_key', 'newer_database', 'RECORD_FORMAT'],
  ...['schema_too_new', 'schema_too_old', 'UNSAFE_TOPICS', 'LOST_PARTITIONS', 'postgres_unavailable'],
]

export interface StartOptions {
  readonly settings: Settings
  readonly shownSettings: Record<string, string | number | null>
  /** For people. */
  readonly stdout: Pick<Writable, 'write'>
  readonly stderr: Pick<Writable, 'write'>
  /** Resolves when the product should stop. */
  readonly stopped: Promise<string>
  /** Replaces the program of the user-code processes: only for fault injection. */
  readonly transformationProgram?: string
}

/** Runs the product until it is stopped. @returns the exit code. */
export async function start(options: StartOptions): Promise<number> {
  const { settings, stderr, stopped } = options
  const logger = newLogger(settings.logLevel)
  const faults = new Faults(logger)
  using _watch = faults.watch(process)
  try {
    using folder = DataFolder.open(settings.dataDir)
    tellModes(folder, logger)
    const run = async () => {
      const dashboardFolder = settings.isDashboardOn ? await dashboard(options) : undefined
      // From here on, every created file holds data, also those of databases, threads and child processes.
      process.umask(0o077)
      await using front = await Front.listen(settings.host, settings.port)
      const given = { ...options, folder, dashboardFolder, front, logger, faults }
      const product = settings.kafkaBrokers === undefined ? await embedded(given) : await clustered(given)
      setHeapFlags()
      collectStartGarbage()
      const reason = await stopped
      logger.info({ reason }, 'stopping')
      await product.stop()
    }
    const running = run()
    const fault = await Promise.race([running, faults.happened])
    if (fault === undefined) return 0
    // Later rejections are consequences of the stop.
    running.catch(() => {})
    await delay(FAULT_GRACE_MS)
    stderr.write(lastLine(fault))
    return FAULT_EXIT_CODE
  } catch (error) {
    stderr.write(`Millrace cannot start: ${textOf(error as Error)}\n`)
    return 1
  }
}

type Given = ComposeOptions & Pick<StartOptions, 'stdout'>

async function embedded(given: Given): Promise<Pick<Product, 'stop'>> {
  const product = await compose(given)
  await welcome(product, given.folder, given.dashboardFolder !== undefined, given)
  return product
}

/** An embedded server loads no module of a cluster. */
async function clustered(given: Given): Promise<Pick<Product, 'stop'>> {
  const { composeCluster } = await import('./cluster/compose-cluster.ts')
  // The settings were checked together.
  const product = await composeCluster(given as Parameters<typeof composeCluster>[0])
  const { baseUrl, roles } = product
  if (given.dashboardFolder !== undefined && roles.has('control')) {
    given.stdout.write(`Millrace dashboard: ${baseUrl}/ui/\n`)
  }
  given.stdout.write(`Millrace ${VERSION} (${[...roles].join(', ')}) is ready: ${baseUrl}\n`)
  return product
}

function tellModes({ path: folder, correctedModes }: DataFolder, logger: ServerLogger): void {
  const { corrected, failed } = correctedModes
  if (corrected > 0) {
    logger.warn({ folder, corrected }, 'other users could read files of the data folder; permissions corrected')
  }
  if (failed > 0)
    logger.error({ folder, failed }, 'other users can read files of the data folder that this user does not own')
}

/** The server accepts events even if the dashboard cannot be built. @returns undefined then. */
async function dashboard({ stdout, stderr }: StartOptions): Promise<string | undefined> {
  try {
    return await builtDashboard((line) => void stdout.write(`${line}\n`))
  } catch (error) {
    stderr.write(`Millrace runs without its dashboard: the build failed: ${(error as Error).message}\n`)
    return undefined
  }
}

async function welcome(product: Product, folder: DataFolder, hasDashboard: boolean, options: Given) {
  const { settings, stdout, logger } = options
  const say = (line: string) => void stdout.write(`${line}\n`)
  const { controlPlane, delivery, inbox, admin, baseUrl } = product
  const isLocal = isLoopbackHost(settings.host)
  if (isLocal) {
    await moveInbox({ controlPlane, baseUrl, inboxPath: inbox.path }).catch((err: Error) =>
      logger.warn({ err }, 'the quickstart inbox keeps its old address'),
    )
  }
  if (hasDashboard) say(`Millrace dashboard: ${baseUrl}/ui/`)
  say(`Millrace ${VERSION} is ready: ${baseUrl}`)
  const owner = await controlPlane.ensureOwner({ email: settings.ownerEmail, token: settings.ownerToken })
  if (owner.tokenToPrint !== undefined) {
    say(`Millrace owner: ${owner.email} token: ${owner.tokenToPrint}`)
    say('  (shown only once; data folder: '.concat(folder.path, ')'))
    await controlPlane.confirmOwnerTokenPrinted()
  }
  if (admin.madePassword !== undefined) {
    say(`Millrace schema API: user: ${admin.user} password: ${admin.madePassword}`)
    say('  (shown only once; set your own with SERVICE_ADMIN_USER and SERVICE_ADMIN_PASSWORD)')
    admin.confirmShown()
  }
  if (!owner.isNew) return
  await makeCommandLineToken(product, folder)
  if (!settings.isQuickstartOn || !isLocal) return
  say('')
  const { host } = settings
  const commands = printedCommands({ baseUrl, dataDir: folder.path, host })
  await runQuickstart({ controlPlane, delivery, baseUrl, inboxPath: inbox.path, commands, say })
}

/** Creates the command line token of this machine; readable with the data folder. @see contracts/control-plane.md §10 [D734] */
async function makeCommandLineToken({ controlPlane }: Product, folder: DataFolder) {
  const token = await controlPlane.newOwnerToken('command line')
  if (token !== undefined) writeFileSync(folder.file('cli-token'), `${token}\n`, { mode: 0o600, flush: true })
}

function textOf(error: Error & { code?: unknown }): string {
  const isExpected =
    error instanceof DataFolderError || error instanceof ListenError || EXPECTED.includes(String(error.code))
  return isExpected ? error.message : (error.stack ?? error.message)
}
