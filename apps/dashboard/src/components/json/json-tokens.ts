export interface Token {
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'rest'
  readonly text: string
}

const PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g

/** The tokens of a JSON text for colouring, in order and complete. */
export function jsonTokens(text: string): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const { 0: whole, 1: string, 2: colon, index } of text.matchAll(PARTS)) {
    if (index > end) tokens.push({ kind: 'rest', text: text.slice(end, index) })
    end = index + whole.length
    if (string === undefined) {
      tokens.push({ kind: /^[tfn]/.test(whole) ? 'word' : 'number', text: whole })
    } else {
      tokens.push({ kind: colon === undefined ? 'string' : 'key', text: string })
      if (colon !== undefined) tokens.push({ kind: 'rest', text: colon })
    }
  }
  if (end < text.length) tokens.push({ kind: 'rest', text: text.slice(end) })
  return tokens
}
