/** A place in the text of a failure; in the code itself, or in a library, by its import name. */
export interface FailurePlace {
  readonly library?: string
  readonly line: number
  readonly column: number
}

export type FailurePart = string | (FailurePlace & { readonly text: string })

const PLACES = /base transformation:(\d+):(\d+)|library ([\p{L}\p{N}]+):(\d+):(\d+)/gu

/** The text of a failure, split at its places. @see contracts/transformations.md §5 */
export function failureParts(text: string): FailurePart[] {
  const parts: FailurePart[] = []
  let end = 0
  for (const match of text.matchAll(PLACES)) {
    if (match.index > end) parts.push(text.slice(end, match.index))
    end = match.index + match[0].length
    const [, line, column, library, libraryLine, libraryColumn] = match
    parts.push({
      text: match[0],
      ...(library === undefined ? {} : { library }),
      line: Number(line ?? libraryLine),
      column: Number(column ?? libraryColumn),
    })
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

/** The first place in the code itself, to mark it. */
export function ownPlace(text: string): FailurePlace | undefined {
  return failureParts(text).find(
    (part): part is FailurePlace & { text: string } => typeof part !== 'string' && part.library === undefined,
  )
}
