import { setTimeout } from 'node:timers/promises'
import type { ApiAnswer } from '@millrace/dev-env'

const DEADLINE_MS = 10_000
const ASK_AGAIN_MS = 5

/** Calls a server that runs as a process. */
export interface Client {
  /** @param token another than the owner's; null: none. */
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<ApiAnswer>
  /** Resolves when an event has an outcome at a destination. Nothing announces it, so this asks again, for up to 10 s. */
  untilOutcome(messageId: string, destinationId: string, outcome: string): Promise<void>
}

export function clientOf(url: string, ownerToken: string): Client {
  const call: Client['call'] = async (method, path, body, token = ownerToken) => {
    const headers = token === null ? {} : { Authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, json: parsed(text) }
  }
  return {
    call,
    async untilOutcome(messageId, destinationId, outcome) {
      for (const deadline = Date.now() + DEADLINE_MS; ; await setTimeout(ASK_AGAIN_MS)) {
        const { text, json } = await call('GET', `/v2/events/${encodeURIComponent(messageId)}`)
        const journeys: { destinationId: string; outcome: string }[] = json?.events?.[0]?.destinations ?? []
        if (journeys.some((each) => each.destinationId === destinationId && each.outcome === outcome)) return
        if (Date.now() > deadline) throw new Error(`${messageId} did not become ${outcome}; its trace is ${text}`)
      }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
