/** One message of a `text/event-stream`. */
export interface ServerEvent {
  readonly name: string
  readonly data: string
}

/** The messages of a stream, each when it is complete; comments are skipped. */
export async function* serverEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const data = fieldOf(lines, 'data')
      if (data !== undefined) yield { name: fieldOf(lines, 'event') ?? 'message', data }
    }
  }
}

function fieldOf(lines: readonly string[], field: string): string | undefined {
  return lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2)
}
