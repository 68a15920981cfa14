import type { MetadataSource } from '../stages/user-metadata.ts'
import type { Configuration, ConfiguredSource } from './configuration.ts'

/** The sources of the configuration, with the class of their type. */
export class ConfiguredSources {
  readonly #configuration: () => Configuration
  readonly #classOf: (type: string) => string
  readonly #known = new WeakMap<ConfiguredSource, MetadataSource>()

  constructor(configuration: () => Configuration, classOf: (type: string) => string) {
    this.#configuration = configuration
    this.#classOf = classOf
  }

  /** Returns the same object until the source changes. */
  get(id: string): MetadataSource | undefined {
    const source = this.#configuration().sources.get(id)
    if (source === undefined) return undefined
    let known = this.#known.get(source)
    if (known === undefined) {
      known = { id, name: source.name, type: source.type, class: this.#classOf(source.type) }
      this.#known.set(source, known)
    }
    return known
  }
}
