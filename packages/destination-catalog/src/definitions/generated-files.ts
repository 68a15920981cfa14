import { ALLOWED } from '../allow-list.ts'
import { packageDefinition } from '../package-modules.ts'
import { packageEntry } from './package-entry.ts'

/** The generated files by their path in this folder, from the installed packages and the allow-list. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>()
  const entries = Object.keys(ALLOWED)
    .sort()
    .map((slug) => {
      const { entry, details } = packageEntry(slug, packageDefinition(slug))
      files.set(`actions/${slug}.json`, jsonText(details))
      return entry
    })
  files.set('entries.json', jsonText(entries))
  return files
}

/** One level per line, so that a change of one entry is a change of one line. */
function jsonText(value: object): string {
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const rows = Array.isArray(value)
    ? value.map((each) => JSON.stringify(each))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${JSON.stringify(each)}`)
  return `${open}\n${rows.join(',\n')}\n${close}\n`
}
