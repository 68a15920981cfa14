import type { CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import type { EventModelWithExtras } from '@millrace/api-types'

interface Known {
  /** Import names. */
  readonly libraries: readonly string[]
  /** Keys of the connected models. */
  readonly models: readonly Pick<EventModelWithExtras, 'Schema'>[]
}

/** @see contracts/transformations.md §4 */
const GLOBALS: readonly (readonly [label: string, detail: string])[] = [
  ['fetch', 'JSON of a URL, or ERROR'],
  ['fetchV2', '{url, status, headers, body}'],
  ['getCredential', 'a saved credential'],
  ['log', 'a line of the log'],
  ['metadata', 'ids and names of source and destination'],
  ['hash.sha256', 'hex text'],
  ['hash.md5', 'hex text'],
  ['hash.hmacSha256', '(key, text): hex text'],
  ['URL', ''],
  ['URLSearchParams', ''],
  ['TextEncoder', ''],
  ['TextDecoder', ''],
  ['atob', ''],
  ['btoa', ''],
  ['structuredClone', ''],
]
const MAX_PATHS = 500

/** After `event.` the members of events, in the quotes of an import the library names, else the sandbox's APIs. */
export function codeCompletions({ libraries, models }: Known): CompletionSource {
  const paths = [...new Set(models.flatMap(({ Schema }) => Object.keys(Schema)))].sort().slice(0, MAX_PATHS)
  return (context: CompletionContext): CompletionResult | null => {
    const imported = context.matchBefore(/from\s+["'][\w$]*$/)
    if (imported !== null) {
      const from = imported.from + imported.text.search(/["']/) + 1
      return { from, options: libraries.map((label) => ({ label, type: 'namespace' })) }
    }
    const member = context.matchBefore(/\bevent\??\.[\w.?]*$/)
    if (member !== null) {
      const from = member.from + member.text.indexOf('.') + 1
      return { from, options: paths.map((label) => ({ label, type: 'property' })), validFor: /^[\w.?]*$/ }
    }
    const word = context.matchBefore(/[\w$.]+$/)
    if (word === null && !context.explicit) return null
    return {
      from: word?.from ?? context.pos,
      options: GLOBALS.map(([label, detail]) => ({ label, detail, type: 'function' })),
      validFor: /^[\w$.]*$/,
    }
  }
}
