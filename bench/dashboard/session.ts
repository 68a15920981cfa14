import { OWNER_EMAIL, OWNER_TOKEN } from '../product.ts'
import type { Program } from '../programs.ts'

/** Both halves of a session of the dashboard: only together they count. */
export interface Session {
  readonly cookie: { readonly name: string; readonly value: string }
  readonly half: string
}

/** Signs the owner in, as the dashboard does. */
export async function signIn(product: Program): Promise<Session> {
  const response = await fetch(`${product.url}/v2/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: OWNER_EMAIL, token: OWNER_TOKEN }),
  })
  if (!response.ok) throw new Error(`POST /v2/session: ${response.status} ${await response.text()}`)
  const { session } = (await response.json()) as { session: { half: string } }
  const [, name, value] = /^([^=]+)=([^;]+);/.exec(response.headers.getSetCookie()[0]!)!
  return { cookie: { name: name!, value: value! }, half: session.half }
}

/** What a page sends with each request. */
export function headersOf({ cookie: { name, value }, half }: Session): Record<string, string> {
  return { cookie: `${name}=${value}`, 'x-millrace-session': half }
}
