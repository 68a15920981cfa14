import type {
  AuthorizationBegun,
  AuthorizationCode,
  AuthorizationFinished,
  AuthorizationWanted,
} from '@millrace/api-types'
import { api } from './requests/client.ts'
import { useWriting } from './requests/reading.ts'

const PATH = '/v2/destinations/authorization'
/** Its tabs share it with no other origin. The page of a service severs `window.opener`. */
const CHANNEL = 'millrace.authorization'

/** Where services send people back; the operator registers it with the app at the service. */
export function returnAddress(): string {
  return `${window.location.origin}/ui/oauth`
}

export function useBeginAuthorization() {
  return useWriting((body: AuthorizationWanted) => api<AuthorizationBegun>('POST', PATH, { body }), [])
}

/** Exchanges a code for a refresh token; nothing is saved. */
export function useFinishAuthorization() {
  return useWriting((body: AuthorizationCode) => api<AuthorizationFinished>('POST', `${PATH}/finish`, { body }), [])
}

/** What a person brings back from a service: a code, or the error of RFC 6749 §4.1.2.1. */
export type Return = { readonly state: string } & ({ readonly code: string } | { readonly error: string })

/** Undefined: the address is not that of a return. */
export function returnIn(search: string): Return | undefined {
  const values = new URLSearchParams(search)
  const [state, code, error] = ['state', 'code', 'error'].map((name) => values.get(name) ?? '')
  if (!state) return undefined
  if (error) return { state, error }
  return code ? { state, code } : undefined
}

/**
 * Passes it to the tab that began.
 *
 * @param onTaken that tab exists, and took it.
 * @returns stops waiting.
 */
export function passBack(brought: Return, onTaken: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }: MessageEvent<{ taken?: string }>) => {
    if (data.taken === brought.state) onTaken()
  }
  channel.postMessage({ brought })
  return () => channel.close()
}

/**
 * Waits for the return of a person with this state; another one is of another tab, or forged.
 *
 * @returns stops waiting.
 */
export function awaitReturn(state: string, onReturn: (brought: Return) => void): () => void {
  const channel = new BroadcastChannel(CHANNEL)
  let isTaken = false
  channel.onmessage = ({ data }: MessageEvent<{ brought?: Return }>) => {
    if (data.brought?.state !== state) return
    channel.postMessage({ taken: state })
    if (!isTaken) onReturn(data.brought)
    isTaken = true
  }
  return () => channel.close()
}
