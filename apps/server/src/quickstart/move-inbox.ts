import { type ControlPlane, MILLRACE } from '@millrace/control-plane'
import { isLoopbackHost } from '@millrace/delivery'

interface MovedServer {
  readonly controlPlane: Pick<ControlPlane, 'destinations'>
  /** URL of this server, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string
  readonly inboxPath: string
}

/**
 * After a start on another port, destinations that post to the built-in inbox get its new URL: at the old port nothing
 * listens any more, or another program does.
 *
 * @see contracts/control-plane.md §3 [D733]
 */
export async function moveInbox({ controlPlane, baseUrl, inboxPath }: MovedServer): Promise<void> {
  const webhookUrl = `${baseUrl}${inboxPath}`
  for (const { id, config } of controlPlane.destinations.list()) {
    if (config['webhookUrl'] === webhookUrl || !isInboxElsewhere(config['webhookUrl'], inboxPath)) continue
    await controlPlane.destinations.update(MILLRACE, id, { config: { ...config, webhookUrl } })
  }
}

function isInboxElsewhere(url: unknown, inboxPath: string): boolean {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  return parsed !== null && parsed.pathname === inboxPath && isLoopbackHost(parsed.hostname)
}
