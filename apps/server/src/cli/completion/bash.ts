import type { Place } from './places.ts'

export function bashScript(places: readonly Place[]): string {
  const cases = places.map(
    ({ words, candidates }) => `    '${words}') candidates='${candidates.map(({ text }) => text).join(' ')}' ;;`,
  )
  return `# Completion of millrace for bash.
_millrace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place='' candidates='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${place:+$place }$word" in
${knownPlaces(places)}
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _millrace millrace
`
}

/** Ignores words that are not commands, such as the value of an option. */
export function knownPlaces(places: readonly Place[]): string {
  const known = places.filter(({ words }) => words !== '').map(({ words }) => `'${words}'`)
  return `      ${known.join(' | ')}) place="\${place:+$place }$word" ;;`
}
