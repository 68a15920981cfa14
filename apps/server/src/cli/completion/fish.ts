import type { Place } from './places.ts'

export function fishScript(places: readonly Place[]): string {
  const known = places.filter(({ words }) => words !== '').map(({ words }) => quoted(words))
  const lines = places.flatMap(({ words, candidates }) =>
    candidates.map(({ text, purpose }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-a ${text}`
      const why = purpose === '' ? '' : ` -d ${quoted(purpose)}`
      return `complete -c millrace -n "test (__millrace_place) = ${quoted(words)}" ${what}${why}`
    }),
  )
  return `# Completion of millrace for fish.
function __millrace_place
  set -l place ''
  set -l words (commandline -opc)
  for word in $words[2..-1]
    set -l longer (string trim -- "$place $word")
    contains -- $longer ${known.join(' ')}; and set place $longer
  end
  echo -- "$place"
end
complete -c millrace -f
${lines.join('\n')}
`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
