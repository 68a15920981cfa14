import { text } from 'node:stream/consumers'
import { oneLine } from '../paint.ts'
import { DemoServer } from './demo-server.ts'

/** Number of deliveries that are shown, one line each. */
const MAX_SHOWN = 100

/** Starts a webhook that accepts every event and shows it. */
export function startInbox(tell: (line: string) => void): Promise<DemoServer> {
  let shown = 0
  const show = (body: string) => {
    if (shown === MAX_SHOWN) return
    shown++
    tell(`  arrived  ${arrivalText(body)}`)
    if (shown === MAX_SHOWN) tell('  (later deliveries are not shown here)')
  }
  return DemoServer.start((request, answer) => {
    text(request).then(
      (body) => {
        answer.end('ok')
        show(body)
      },
      () => answer.destroy(),
    )
  })
}

/** `track Hello (hello-1)` */
function arrivalText(body: string): string {
  try {
    const { type, event, name, messageId } = JSON.parse(body) as Record<string, unknown>
    return oneLine(`${type} ${event ?? name ?? ''} (${messageId})`.replace('  ', ' '), 120)
  } catch {
    return `${body.length} bytes`
  }
}
