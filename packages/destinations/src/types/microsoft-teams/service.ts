import type { MessageService } from '../../messages/posted-message.ts'

export const service: MessageService = { parts: 'elements', identifyParts: 'identifyElements', escapeValue }

/** A value makes no link: the Markdown of cards writes one as `[title](url)`, and a zero-width space parts the two. */
function escapeValue(value: string): string {
  return value.replace(/(^|\])\(/g, '$1\u200b(')
}
