import { builtDashboard } from '@millrace/dashboard'
import { DevEnv, type Received } from './index.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

/** The product with a source and a webhook to the sink; what arrives there is shown. */
const dashboardFolder = await builtDashboard(say)
await using env = await DevEnv.open({
  dashboardFolder,
  settings: { MILLRACE_PORT: process.env['MILLRACE_PORT'] ?? '8080', MILLRACE_LOG_LEVEL: 'info' },
})
env.sink.answer = (request) => {
  say(arrivalLine(request))
  return {}
}
const { source } = await env.webhook({ name: 'Sink' })

say(`Dashboard   ${env.url}/ui/`)
say(`Millrace    ${env.url}`)
say(`Sink        ${env.sink.url}`)
say(`Data folder ${env.folder} (removed at the end)`)
say(`Token       ${env.token}`)
say('')
say(
  `  curl -u ${source.writeKey}: ${env.url}/v1/track -d '{"userId":"u-4711","event":"Seat Reserved","messageId":"m-1"}'`,
)
say(`  curl -H 'Authorization: Bearer ${env.token}' ${env.url}/v2/events/m-1`)
say('')

await new Promise<void>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve)
})

function arrivalLine({ method, path, json }: Received): string {
  const { type, event = '', userId = '' } = json ?? {}
  return `→ ${method} ${path}  ${type} ${event} ${userId}`
}
