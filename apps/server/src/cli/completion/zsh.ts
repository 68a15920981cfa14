import { knownPlaces } from './bash.ts'
import type { Place } from './places.ts'

export function zshScript(places: readonly Place[]): string {
  const cases = places.map(({ words, candidates }) => {
    const described = candidates.map(({ text, purpose }) => quoted(purpose === '' ? text : `${text}:${purpose}`))
    return `    '${words}') candidates=(${described.join(' ')}) ;;`
  })
  return `#compdef millrace
# Completion of millrace for zsh.
_millrace() {
  local place='' word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${place:+$place }$word" in
${knownPlaces(places)}
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  _describe 'millrace' candidates
}
compdef _millrace millrace
`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
