import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DocumentError } from '@millrace/control-plane'
import { ControlPlane, MILLRACE, sqliteControlStore } from '@millrace/control-plane'
import { arePackagesInstalled, DestinationCatalog } from '@millrace/destination-catalog'
import { DestinationRegistry, Masking } from '@millrace/destinations'
import { ApiError } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import { type Clock, systemClock } from '@millrace/std'
import { OfflineTests, type TestedDestination } from '@millrace/test-api'
import { DEFAULT_LIMITS, Sandboxes } from '@millrace/transformations'
import type { Environment } from '../../config/environment.ts'
import { catalogTypes } from '../../destination-catalog/catalog-types.ts'
import { destinationTypesOf } from '../../destination-types.ts'
import { LOG_PARTITIONS } from '../../log-partitions.ts'
import { VERSION } from '../../version.ts'
import { CommandError } from '../command-io.ts'
import { withCode } from '../configuration/code-files.ts'
import { documentErrors } from '../configuration/config-errors.ts'
import { type ConfigFile, readConfigFile } from '../configuration/config-file.ts'
import { filled, MASK } from '../configuration/placeholders.ts'
import { oneLine } from '../paint.ts'

/** Replaces secrets that only a server has; masked in output in the same way. */
const NO_VALUE = 'a-secret-of-the-server'
const TIMEOUT_MS = 60_000

/**
 * The workspace of a configuration file, as a server would have it, in a temporary folder. It never uses the network.
 */
export class OfflineWorkspace implements AsyncDisposable {
  readonly #folder: string
  readonly #controlPlane: ControlPlane
  readonly #transformations: Sandboxes
  readonly #tests: OfflineTests
  readonly #catalog: DestinationCatalog

  /** @throws CommandError with every error of the file and its place. */
  static async open(configFile: string, env: Environment): Promise<OfflineWorkspace> {
    const file = readConfigFile(configFile)
    const document = documentOf(file, env)
    const clock = systemClock
    const catalog = new DestinationCatalog({ clock, logger: SILENT })
    const trouble = arePackagesInstalled() ? undefined : 'Destination catalog is not installed'
    const registry = await DestinationRegistry.load({ more: catalogTypes(catalog, trouble) })
    const transformations = new Sandboxes({
      limits: DEFAULT_LIMITS,
      fetch: async () => ({ ok: false, message: 'fetch is not available offline' }),
      clock,
      logger: SILENT,
    })
    const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
    const controlPlane = await openControlPlane(folder, clock, registry, transformations)
    const tests = new OfflineTests({
      destinationTypes: registry,
      userCode: transformations,
      credentials: () => NO_CREDENTIALS,
      clock,
      version: VERSION,
      timeoutMs: TIMEOUT_MS,
    })
    const workspace = new OfflineWorkspace(folder, controlPlane, transformations, tests, catalog)
    try {
      await workspace.#apply(file, document)
      return workspace
    } catch (error) {
      await workspace[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(
    folder: string,
    controlPlane: ControlPlane,
    transformations: Sandboxes,
    tests: OfflineTests,
    catalog: DestinationCatalog,
  ) {
    this.#catalog = catalog
    this.#folder = folder
    this.#controlPlane = controlPlane
    this.#transformations = transformations
    this.#tests = tests
  }

  /** By key in the file. */
  destination(key: string): TestedDestination | undefined {
    return [...this.#controlPlane.snapshot().destinations.values()].find((each) => each.key === key)
  }

  /** @returns the result object in the form of the Test API. */
  run(...[destination, message, flags]: Parameters<OfflineTests['run']>): Promise<JsonObject> {
    return this.#tests.run(destination, message, flags)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#catalog[Symbol.asyncDispose]()
    await this.#transformations.close()
    await this.#controlPlane[Symbol.asyncDispose]()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #apply(file: ConfigFile, document: JsonObject): Promise<void> {
    const { revision } = this.#controlPlane.snapshot()
    try {
      await this.#controlPlane.configuration.apply(MILLRACE, { document, prune: false, revision })
    } catch (error) {
      const errors = error instanceof ApiError ? error.details?.['errors'] : undefined
      if (!Array.isArray(errors)) throw error
      throw documentErrors(file, errors as unknown as DocumentError[])
    }
  }
}

/** The document in the form sent to a server, but with placeholder values for secrets that only the server has. */
function documentOf(file: ConfigFile, env: Environment): JsonObject {
  const unmasked = JSON.parse(JSON.stringify(file.document).replaceAll(MASK, NO_VALUE)) as JsonObject
  const { document, missing } = withCode(filled(unmasked, env, NO_VALUE).document, dirname(file.name))
  if (missing.length === 0) return document
  const lines = missing.map(({ path, why }) => `${file.place(path)} ${oneLine(why)} (${oneLine(path)})`)
  throw new CommandError('Code or test files cannot be read:', lines.join('\n'))
}

const NO_CREDENTIALS: ReadonlyMap<string, string> = new Map()
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function openControlPlane(
  folder: string,
  clock: Clock,
  registry: DestinationRegistry,
  transformations: Sandboxes,
): Promise<ControlPlane> {
  return ControlPlane.open({
    store: sqliteControlStore(join(folder, 'control.db')),
    secretKey: randomBytes(32),
    clock,
    random: randomBytes,
    partitions: LOG_PARTITIONS,
    version: VERSION,
    destinationTypes: destinationTypesOf(registry),
    code: transformations,
    codeTemplates: [],
    maskingOf: (secrets) => new Masking(secrets),
    logger: SILENT,
    apiRequestsPerMinute: 0,
    serverName: '',
    trustedProxies: [],
  })
}
