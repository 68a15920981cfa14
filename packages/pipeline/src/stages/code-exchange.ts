import { codeRequest, type IssuedCode, issuedRefreshToken } from '@millrace/delivery'
import type { TokenGrant } from '@millrace/protocol'
import { type Sender, sendOnce } from './send-once.ts'

/**
 * Exchanges the code that a service issued for a refresh token.
 *
 * @param signal ends the call.
 * @see contracts/destinations.md §7e
 */
export async function exchangedCode(
  client: Omit<TokenGrant, 'fields'>,
  issued: IssuedCode,
  { tokenOrigin, userAgent }: Parameters<typeof codeRequest>[2],
  { sender, signal }: { readonly sender: Sender; readonly signal: AbortSignal },
): Promise<ReturnType<typeof issuedRefreshToken>> {
  const request = codeRequest(client, issued, { tokenOrigin, userAgent })
  const { value } = await sendOnce([request], sender, signal).next()
  return issuedRefreshToken(value!)
}
