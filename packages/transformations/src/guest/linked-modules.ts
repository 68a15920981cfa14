import type ivm from 'isolated-vm'
import { engineText } from './engine-text.ts'
import { BASE_PLACE, LIBRARY_PLACE } from './failure-text.ts'
import { RefusedCodeError } from './stripped-code.ts'
import type { StrippedVersion } from './versions.ts'

export interface LinkedModules {
  readonly base: ivm.Module
  /** All that are reached from it, by import name as the engine gives it. */
  readonly libraries: ReadonlyMap<string, ivm.Module>
}

/**
 * Compiles a version and the libraries that it reaches.
 *
 * @param place how the code's own stack lines name it.
 * @throws RefusedCodeError for an import of a library that is not there, and for a cycle of libraries.
 * @throws SyntaxError of the engine, its message ending in ` [<place>:<line>:<column>]`
 * @see contracts/transformations.md §3
 */
export function linkedModules(
  isolate: ivm.Isolate,
  version: Pick<StrippedVersion, 'code' | 'libraries'>,
  place = BASE_PLACE,
): LinkedModules {
  const libraries = new Map<string, ivm.Module>()
  const follow = (module: ivm.Module, path: readonly string[]) => {
    for (const specifier of new Set(module.dependencySpecifiers)) {
      const name = engineText(specifier)
      if (path.includes(name)) throw cycle([...path.slice(path.indexOf(name)), name])
      if (libraries.has(specifier)) continue
      const code = version.libraries.get(name)
      if (code === undefined) throw new RefusedCodeError(`import from ${name} failed. Module not found.`)
      const library = isolate.compileModuleSync(code, { filename: `${LIBRARY_PLACE}${name}` })
      follow(library, [...path, name])
      libraries.set(specifier, library)
    }
  }
  const base = isolate.compileModuleSync(version.code, { filename: place })
  follow(base, place === BASE_PLACE ? [] : [place.slice(LIBRARY_PLACE.length)])
  return { base, libraries }
}

function cycle(names: readonly string[]): RefusedCodeError {
  return new RefusedCodeError(`libraries import each other in a cycle: ${names.join(' → ')}`)
}
