import type { MessageService } from '../posted-message.ts'

export const service: MessageService = { parts: 'embeds', identifyParts: 'identifyEmbeds', escapeValue }

/**
 * Of a value no part becomes formatting, a mention or the text of a link. A backslash takes its meaning from a mark; a mention
 * and a link end at the zero-width space. A value that is an address stays as it is: a backslash would break it.
 */
function escapeValue(value: string): string {
  if (/^https?:\/\/\S+$/.test(value)) return value
  return value
    .replace(/[\\*_~`|]/g, '\\$&')
    .replace(/@(?=everyone|here)|<(?=[@#:])/g, '$&\u200b')
    .replaceAll('](', ']\u200b(')
}
