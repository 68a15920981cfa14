import type { SourceType } from '../../../api/sources.ts'

const EVENT_SNIPPETS = ['curl', 'Browser', 'Node', 'Cordova'] as const
export type SnippetName = (typeof EVENT_SNIPPETS)[number] | 'Webhook'

/** Those of a source: one of webhooks takes nothing else. */
export function snippetsOf(type: SourceType): readonly SnippetName[] {
  return type === 'Webhook' ? ['Webhook'] : EVENT_SNIPPETS
}

/** Code that sends one event, to be pasted as it is. */
export function snippetText(name: SnippetName, writeKey: string, url: string): string {
  switch (name) {
    case 'curl':
      return `curl -u ${writeKey}: ${url}/v1/track \\
  -d '{"userId":"u-4711","event":"Seat Reserved","properties":{"hall":"B","row":4}}'`
    case 'Webhook':
      return `curl ${url}/hooks/${writeKey} \\
  -d '{"id":"evt_7","type":"invoice.paid","data":{"customer":"u-4711"}}'`
    case 'Browser':
      return `await fetch('${url}/v1/track', {
  method: 'POST',
  headers: { Authorization: \`Basic \${btoa('${writeKey}:')}\` },
  body: JSON.stringify({ userId: 'u-4711', event: 'Seat Reserved', properties: { hall: 'B', row: 4 } }),
  keepalive: true,
})`
    case 'Node':
      return `// npm install @segment/analytics-node
import { Analytics } from '@segment/analytics-node'

const analytics = new Analytics({ writeKey: '${writeKey}', host: '${url}' })
analytics.track({ userId: 'u-4711', event: 'Seat Reserved', properties: { hall: 'B', row: 4 } })
await analytics.closeAndFlush()`
    case 'Cordova':
      return `// cordova plugin add service-sdk-cordova
document.addEventListener('deviceready', async () => {
  await ServiceClient.initialize('${writeKey}', { dataPlaneUrl: '${url}' })
  await ServiceClient.track('Seat Reserved', { hall: 'B', row: 4 })
})`
  }
}
