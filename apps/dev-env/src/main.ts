import { builtDashboard } from '@millrace/dashboard'
import { DevEnv, plant, type Received, SEEDS, seedAnswer } from './index.ts'
import { programArguments } from './program-arguments.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)
const { values, refuse } = programArguments({
  usage: `Runs the whole product with an empty data folder and a webhook that accepts everything, until Ctrl-C. It listens at
MILLRACE_PORT (8080).

  npm run dev [-- --seed <name>]

  --seed <name>  starts with example data: ${SEEDS.join(', ')}; default: one source and one destination`,
  options: { seed: { type: 'string' } },
})
const seed = SEEDS.find((each) => each === values.seed)
if (values.seed !== undefined && seed === undefined) refuse(`There is no seed ${values.seed}.`)

const dashboardFolder = await builtDashboard(say)

/** The product with a source and a webhook to the sink, or with what a seed makes; what arrives at the sink is shown. */
await using env = await DevEnv.open({
  dashboardFolder,
  settings: { MILLRACE_PORT: process.env['MILLRACE_PORT'] ?? '8080', MILLRACE_LOG_LEVEL: 'info' },
})
if (seed !== undefined) {
  env.sink.answer = seedAnswer
  await plant(env, seed)
}
env.sink.answer = (request) => {
  say(arrivalLine(request))
  return seedAnswer(request)
}

say(`Dashboard   ${env.url}/ui/`)
say(`Millrace    ${env.url}`)
say(`Sink        ${env.sink.url}`)
say(`Data folder ${env.folder} (removed at the end)`)
say(`Token       ${env.token}`)
say('')
if (seed === undefined) {
  const { writeKey } = (await env.webhook({ name: 'Sink' })).source
  say(`  curl -u ${writeKey}: ${env.url}/v1/track -d '{"userId":"u-4711","event":"Seat Reserved","messageId":"m-1"}'`)
  say(`  curl -H 'Authorization: Bearer ${env.token}' ${env.url}/v2/events/m-1`)
  say('')
}

await new Promise<void>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve)
})

function arrivalLine({ method, path, json }: Received): string {
  const { type, event = '', userId = '' } = json ?? {}
  return `→ ${method} ${path}  ${type} ${event} ${userId}`
}
