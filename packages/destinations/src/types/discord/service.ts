import type { MessageService } from '../../messages/posted-message.ts'

export const service: MessageService = { parts: 'embeds', identifyParts: 'identifyEmbeds', escapeValue }

/**
 * Of a value no part becomes formatting, a mention or the text of a link. A backslash takes its meaning from a mark; a mention
 * and a link end at the zero-width space. An address keeps its marks: a backslash would break it.
 */
function escapeValue(value: string): string {
  const plain = /^https?:\/\/\S+$/.test(value) ? value : value.replace(/[\\*_~`|]/g, '\\$&')
  return plain.replace(/@(?=everyone|here)|<(?=[@#:])/g, '$&\u200b').replaceAll('](', ']\u200b(')
}
