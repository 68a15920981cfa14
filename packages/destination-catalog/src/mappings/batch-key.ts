import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { Mapping } from './mappings.ts'

/** Events of one mapping and one audience may share a run: their code reads the audience from the first of them. */
export function batchKey(event: JsonObject, { index }: Mapping): string {
  const { context } = event
  return `${index} ${JSON.stringify((isJsonObject(context) ? context['personas'] : undefined) ?? null)}`
}
