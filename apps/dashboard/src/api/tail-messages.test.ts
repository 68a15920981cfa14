import { expect, it } from 'vitest'
import { type TailMessage, tailMessages } from './tail-messages.ts'

const STREAM = `: hello

event: accepted
data: {"messageId":"m-88","sourceId":"s1","acceptedAt":"2026-03-04T09:15:31.900Z","type":"track","name":"Café","userId":"u-4711","anonymousId":null}

event: outcome
data: {"messageId":"m-88","destinationId":"d1","outcome":"delivered","reason":null,"status":202,"durationMs":84}

event: novelty
data: {}

event: skipped
data: {"count":310}

event: accepted
data: {"messageId":"cut`

// 1 cuts within names and within a character of two bytes.
it.each([1, 7, 10_000])('messages are whole whatever the chunks are: %i bytes', async (size) => {
  const bytes = new TextEncoder().encode(STREAM)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
  const messages: TailMessage[] = []
  for await (const message of tailMessages(body.getReader())) messages.push(message)
  expect(messages).toMatchObject([
    { kind: 'accepted', messageId: 'm-88', name: 'Café' },
    { kind: 'outcome', destinationId: 'd1', status: 202 },
    { kind: 'skipped', count: 310 },
  ])
})
