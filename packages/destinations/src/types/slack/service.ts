import type { MessageService } from '../../messages/posted-message.ts'

export const service: MessageService = { parts: 'blocks', identifyParts: 'identifyBlocks', escapeValue: escapeText }

/** Of what an event says nothing becomes a link, or calls everybody in the channel. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
