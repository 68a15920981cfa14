import type { JsonValue } from '@millrace/protocol'
import type { TransformContext } from '../definition.ts'

/**
 * The configured address of an incoming webhook, whose path and parameters alone are enough to post there: they are masked, too.
 *
 * @throws Error without an address.
 */
export function webhookAddress(webhookUrl: JsonValue | undefined, { secret }: TransformContext): string {
  if (typeof webhookUrl !== 'string' || webhookUrl === '') throw new Error('Invalid URL in destination config')
  const url = URL.parse(webhookUrl)
  if (url !== null && url.pathname !== '/') secret(url.pathname)
  return webhookUrl
}
