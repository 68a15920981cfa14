/**
 * A pattern of names: `*` stands for any text, also none; every other character for itself. There is no other sign, and no
 * regular expression: each piece between stars is searched once, from where the one before ended, so that a long name takes
 * time in proportion to its length.
 */
export function namePattern(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (name) => name === pattern
  const middle = rest.filter((piece) => piece !== '')
  return (name) => {
    if (!name.startsWith(first)) return false
    let at = first.length
    for (const piece of middle) {
      // The leftmost place leaves the most for the pieces behind it.
      const found = name.indexOf(piece, at)
      if (found === -1) return false
      at = found + piece.length
    }
    return name.length - last.length >= at && name.endsWith(last)
  }
}
