import { createRequire } from 'node:module'
import path from 'node:path'
import type { Language } from '../code.ts'

/** User code that no engine accepts: its text and place, from 1, where it says one. */
export class RefusedCodeError extends Error {
  override readonly name = 'RefusedCodeError'
  readonly code = 'refused-code'
  readonly line: number | undefined
  readonly column: number | undefined

  constructor(text: string, place?: { readonly line: number; readonly column: number }) {
    super(text)
    this.line = place?.line
    this.column = place?.column
  }
}

export const TOO_DEEP = 'SyntaxError: The code is nested too deeply to be read'

type Amaro = typeof import('amaro')

/** Undefined before the first TypeScript, and after a failure that may have broken its memory. */
let amaro: Amaro | undefined

/**
 * JavaScript in place of TypeScript: what is a type becomes blanks, so that every position stays. The stripper is
 * loaded when the first TypeScript comes.
 *
 * @throws RefusedCodeError for syntax errors, for syntax that types alone cannot explain, such as an enum, and for code
 * that overflows the stripper's stack.
 */
export async function strippedCode(code: string, language: Language): Promise<string> {
  if (language === 'javascript') return code
  const isNew = amaro === undefined
  amaro ??= newAmaro()
  try {
    return amaro.transformSync(code, { mode: 'strip-only' }).code
  } catch (cause) {
    if (isSyntaxError(cause)) {
      const { message, startLine, startColumn } = cause
      const place = startLine === undefined ? undefined : { line: startLine, column: (startColumn ?? 0) + 1 }
      throw new RefusedCodeError(`SyntaxError: ${message}`, place)
    }
    amaro = undefined
    // Only a new instance shows that the code is at fault.
    if (!isNew) return strippedCode(code, language)
    throw new RefusedCodeError(TOO_DEEP)
  }
}

/** A new instance of its WebAssembly module, with memory of its own. */
function newAmaro(): Amaro {
  // A new `require` each time: it keeps what it has loaded.
  const require = createRequire(import.meta.url)
  for (const file of Object.keys(require.cache)) {
    if (file.includes(`${path.sep}amaro${path.sep}`)) delete require.cache[file]
  }
  return require('amaro') as Amaro
}

interface AmaroSyntaxError {
  readonly code: string
  readonly message: string
  readonly startLine?: number
  readonly startColumn?: number
}

/** Whether amaro reports it: an engine error, such as a stack overflow, has no code. */
function isSyntaxError(cause: unknown): cause is AmaroSyntaxError {
  return typeof cause === 'object' && cause !== null && 'code' in cause
}
