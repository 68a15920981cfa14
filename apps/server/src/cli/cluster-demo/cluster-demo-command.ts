import type { Command } from 'commander'
import { type CommandContext, withExample } from '../command.ts'
import { CommandError, type CommandIo } from '../command-io.ts'

/** `millrace cluster-demo` */
export function addClusterDemo(program: Command, { io }: CommandContext): void {
  const command = program.command('cluster-demo').description('run a cluster on this machine until it is stopped')
  withExample(command, 'cluster-demo').action(() => clusterDemo(io))
}

async function clusterDemo({ env, stdout, stderr, untilStopped }: CommandIo): Promise<void> {
  const { DemoCluster } = await import('./demo-cluster.ts')
  const { startInbox } = await import('./demo-inbox.ts')
  const tell = (what: string) => void stderr.write(`${what}\n`)
  const ending = new AbortController()
  const stopped = untilStopped().then(() => {
    tell('\nEverything stops')
    ending.abort()
  })
  await using cluster = await DemoCluster.start(env, tell, ending.signal)
  if (cluster === undefined) return
  const { url, ownerToken, kafka, postgres, processes, settingsFile } = cluster.facts
  for (const each of processes) each.onEnd((how) => ending.signal.aborted || tell(`${each.name}: ${how}`))
  await using inbox = await startInbox((line) => void stdout.write(`${line}\n`))
  const writeKey = await demoSource(url, ownerToken, inbox.url)
  const rows = [
    ['dashboard', `${url}/ui/`],
    ['', `sign in as owner@localhost with ${ownerToken}`],
    ...processes.map((each) => [each.name, `${each.url}  (process ${each.pid})`]),
    ['kafka', kafka.join(', ')],
    ['postgres', postgres],
  ]
  const lines = rows.map(([name, text]) => `  ${name!.padEnd(11)}${text}\n`)
  const body = '{"userId":"u-1","event":"Hello","messageId":"hello-1"}'
  stdout.write(`\nThe cluster runs: ${url}\n\n${lines.join('')}
A proxy at that address sends events to the gateways, and all other requests to the control process.
Send an event; it arrives here:

  curl -u ${writeKey}: ${url}/v1/track -d '${body}'

In another terminal, trace it and check the cluster:

  export $(cat ${settingsFile})
  npm run millrace -- trace hello-1
  npm run millrace -- doctor

Kill a gateway or a pipeline with kill -9 and send on: nothing is lost. Ctrl-C stops everything and deletes the data.

`)
  await stopped
}

/** Makes a source that is connected to the inbox. @returns its write key. */
async function demoSource(url: string, token: string, webhookUrl: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${url}/v2${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    if (!answer.ok)
      throw new CommandError(`The control process refused ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const { source } = (await post('/sources', { name: 'Demo', type: 'HTTP' })) as { source: Created & Keyed }
  const inbox = { name: 'Demo inbox', type: 'WEBHOOK', config: { webhookUrl } }
  const { destination } = (await post('/destinations', inbox)) as { destination: Created }
  await post('/connections', { sourceId: source.id, destinationId: destination.id })
  return source.writeKey
}

interface Created {
  readonly id: string
}
interface Keyed {
  readonly writeKey: string
}
