import { isJsonObject, type JsonObject } from '@millrace/protocol/json'
import type { CodeFault } from '../../components/editor/editor-props.ts'
import { jsonFault } from '../../components/json/json-fault.ts'

/** The editor's text as a message. */
export type WrittenMessage =
  | { readonly message: JsonObject }
  /** Without an error the editor is empty. */
  | { readonly fault?: CodeFault }

export function readMessage(text: string): WrittenMessage {
  if (text.trim() === '') return {}
  const fault = jsonFault(text)
  if (fault !== undefined) return { fault }
  const value: unknown = JSON.parse(text)
  if (isJsonObject(value)) return { message: value }
  return { fault: { line: 1, column: 1, message: 'The message must be a JSON object.' } }
}
