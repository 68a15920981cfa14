import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isNestedDeeper, type JsonObject } from '@millrace/protocol'
import type { Ajv, ValidateFunction } from 'ajv'
import { type ConfigFault, faultsOf } from './config/config-fault.ts'
import { reservedKind } from './config/reserved-names.ts'
import type { DestinationModule } from './definition.ts'
import { TYPES_FOLDER } from './types-folder.ts'

const require = createRequire(import.meta.url)
const MAX_CONFIG_BYTES = 64 * 1024
/** Schemas and templates follow a config by recursion. */
const MAX_CONFIG_LEVELS = 200

/** Types that are not loaded before somebody asks for them. */
export interface MoreTypes {
  names(): readonly string[]
  find(name: string): DestinationModule | undefined
}

const NO_MORE: MoreTypes = { names: () => [], find: () => undefined }

export interface RegistryOptions {
  /** Milliseconds since 1970, for what is checked when a config is saved. Default: the clock of this machine. */
  readonly now?: () => number
  /** Types from elsewhere. Default: none. */
  readonly more?: MoreTypes
}

/** The destination types there are. A type is a folder in `types` whose module bears the folder's name. */
export class DestinationRegistry {
  readonly #modules: ReadonlyMap<string, DestinationModule>
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #now: () => number
  #ajv: Ajv | undefined
  readonly #more: MoreTypes

  constructor(modules: Iterable<DestinationModule>, { now = Date.now, more = NO_MORE }: RegistryOptions = {}) {
    this.#now = now
    this.#more = more
    const byName = new Map<string, DestinationModule>()
    for (const module of modules) {
      const { name, kind } = module.definition
      assert(!byName.has(name), `There are two destination types ${name}`)
      assert((reservedKind(name) ?? kind) === kind, `${name} is the name of a type of kind ${reservedKind(name)}`)
      byName.set(name, module)
    }
    this.#modules = byName
  }

  static async load(options?: RegistryOptions): Promise<DestinationRegistry> {
    const folders = readdirSync(TYPES_FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const modules = folders.map(async ({ name }) => {
      const { destination } = (await import(`./types/${name}/${name}.ts`)) as { destination: DestinationModule }
      return destination
    })
    return new DestinationRegistry(await Promise.all(modules), options)
  }

  /** By type name, such as `WEBHOOK`. */
  find(name: string): DestinationModule | undefined {
    return this.#modules.get(name) ?? this.#more.find(name)
  }

  /** Of the types of this package, in the order of the alphabet: error texts list them. */
  names(): string[] {
    return [...this.#modules.keys()].sort()
  }

  all(): DestinationModule[] {
    return [...this.#modules.values(), ...this.#more.names().map((name) => this.#more.find(name)!)]
  }

  /** Checks the config of a destination about to be saved; members that the type does not know are no fault. */
  faultsIn(module: DestinationModule, config: JsonObject): ConfigFault[] {
    if (Buffer.byteLength(JSON.stringify(config)) > MAX_CONFIG_BYTES) return [{ path: '', message: 'is too large' }]
    if (isNestedDeeper(config, MAX_CONFIG_LEVELS)) return [{ path: '', message: 'is nested too deeply' }]
    const trouble = module.remote?.trouble()
    if (trouble !== undefined) return [{ path: '', message: trouble }]
    const { name, configSchema } = module.definition
    let validate = this.#validators.get(name)
    if (validate === undefined) {
      this.#ajv ??= newAjv()
      validate = this.#ajv.compile(configSchema)
      this.#validators.set(name, validate)
    }
    if (!validate(config)) return faultsOf(validate.errors!)
    return [...(module.faults?.(config, this.#now()) ?? []), ...(module.remote?.faultsIn(config) ?? [])]
  }
}

/** Loaded by the first check: threads that only deliver check nothing. */
function newAjv(): Ajv {
  const { Ajv: Compiler } = require('ajv') as typeof import('ajv')
  return new Compiler({ strict: false, allErrors: true, verbose: true })
}
