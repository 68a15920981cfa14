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

/**
 * JavaScript in place of TypeScript: what is a type becomes blanks, so that every position stays. The stripper is
 * loaded when the first TypeScript comes.
 *
 * @throws RefusedCodeError for syntax errors and for syntax that types alone cannot explain, such as an enum.
 */
export async function strippedCode(code: string, language: Language): Promise<string> {
  if (language === 'javascript') return code
  const { transformSync } = (await import('amaro')).default
  try {
    return transformSync(code, { mode: 'strip-only' }).code
  } catch (cause) {
    const { message, startLine, startColumn } = cause as { message?: unknown; startLine?: number; startColumn?: number }
    const place = startLine === undefined ? undefined : { line: startLine, column: (startColumn ?? 0) + 1 }
    throw new RefusedCodeError(`SyntaxError: ${message}`, place)
  }
}
