import type { JsonObject } from '@millrace/protocol/json'

export const FILE_NAME = 'millrace.yaml'

/** In the file `${NAME}` stands for a variable: what looks like one on the server is a text. @see docs/configuration-as-code.md */
const PLACEHOLDER = /\$+\{[A-Za-z_]\w*\}/g

/** The document as the command line reads it: JSON is YAML too. @see docs/decisions/0049-home-and-settings.md */
export function configurationFile(document: JsonObject): string {
  const escaped = JSON.stringify(
    document,
    (_, value: unknown) => (typeof value === 'string' ? value.replace(PLACEHOLDER, (whole) => `$${whole}`) : value),
    2,
  )
  return `${escaped}\n`
}
