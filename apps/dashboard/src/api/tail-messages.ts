import type { TailAccepted, TailOutcome, TailSkipped } from '@millrace/api-types'

/** One message of GET /v2/tail. @see contracts/delivery.md §8 [D639], dashboard.md §4 N7 */
export type TailMessage =
  | ({ readonly kind: 'accepted' } & TailAccepted)
  | ({ readonly kind: 'outcome' } & TailOutcome)
  | ({ readonly kind: 'skipped' } & TailSkipped)

const KINDS = ['accepted', 'outcome', 'skipped']

/** Each message of a `text/event-stream` when it is complete; comments and unknown kinds are skipped. @throws SyntaxError for data that is not JSON. */
export async function* tailMessages(chunks: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<TailMessage> {
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await chunks.read()
    if (done) return
    text += decoder.decode(value, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const message = messageOf(text.slice(0, end))
      text = text.slice(end + 2)
      if (message !== undefined) yield message
    }
  }
}

function messageOf(block: string): TailMessage | undefined {
  const lines = block.split('\n')
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const [kind, data] = [field('event'), field('data')]
  if (kind === undefined || data === undefined || !KINDS.includes(kind)) return undefined
  return { kind, ...JSON.parse(data) } as TailMessage
}
