import type { JsonObject } from '@millrace/protocol/json'

export const FILE_NAME = 'millrace.yaml'

/**
 * In the file `${NAME}` stands for a variable; a server's text that looks like one is escaped. @see
 * docs/configuration-as-code.md
 */
const PLACEHOLDER = /\$+\{[A-Za-z_]\w*\}/g

/** The document for the command line: JSON is also YAML. @see docs/decisions/0049-home-and-settings.md */
export function configurationFile(document: JsonObject): string {
  const escaped = JSON.stringify(
    document,
    (_, value: unknown) => (typeof value === 'string' ? value.replace(PLACEHOLDER, (whole) => `$${whole}`) : value),
    2,
  )
  return `${escaped}\n`
}
