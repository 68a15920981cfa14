import { setTimeout } from 'node:timers/promises'
import type { ApiAnswer } from '@millrace/dev-env'
import { type Conformance, conformanceOf } from '@millrace/openapi/testing'

const DEADLINE_MS = 10_000
const ASK_AGAIN_MS = 5

/** Calls a server that runs as a process; every answer below /v2 is held against its /openapi.json. */
export interface Client {
  /** @param token another than the owner's; null: none. */
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<ApiAnswer>
  /** Resolves when an event has an outcome at a destination. Nothing announces it, so this asks again, for up to 10 s. */
  untilOutcome(messageId: string, destinationId: string, outcome: string): Promise<void>
}

export function clientOf(url: string, ownerToken: string): Client {
  let conformance: Conformance | undefined
  const call: Client['call'] = async (method, path, body, token = ownerToken) => {
    const headers = token === null ? {} : { Authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.text()
    conformance ??= conformanceOf(await documentOf(url))
    conformance.check({ method, path, requestBody: body, status: answer.status, text })
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

async function documentOf(url: string): Promise<object> {
  const answer = await fetch(`${url}/openapi.json`)
  return (await answer.json()) as object
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
