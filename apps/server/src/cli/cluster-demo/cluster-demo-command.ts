import type { Command } from 'commander'
import { type CommandContext, withExample } from '../command.ts'
import type { CommandIo } from '../command-io.ts'
import { DemoCluster } from './demo-cluster.ts'

/** `millrace cluster-demo` */
export function addClusterDemo(program: Command, { io }: CommandContext): void {
  const command = program.command('cluster-demo').description('run a cluster on this machine until it is stopped')
  withExample(command, 'cluster-demo').action(() => clusterDemo(io))
}

async function clusterDemo({ env, stdout, stderr, untilStopped }: CommandIo): Promise<void> {
  const tell = (what: string) => void stderr.write(`${what}\n`)
  const ending = new AbortController()
  const stopped = untilStopped().then(() => {
    tell('\nEverything stops')
    ending.abort()
  })
  await using cluster = await DemoCluster.start(env, tell, ending.signal)
  if (cluster === undefined) return
  const { ownerToken, kafka, postgres, processes, settingsFile } = cluster.facts
  for (const each of processes) each.onEnd((how) => ending.signal.aborted || tell(`${each.name}: ${how}`))
  const control = cluster.urlOf('control')
  const writeKey = await demoSource(control, ownerToken)
  const rows = [
    ...processes.map(({ name, url, pid }) => [name, `${url}  (process ${pid})`]),
    ['kafka', kafka.join(', ')],
    ['postgres', postgres],
    ['dashboard', `${control}/ui/`],
    ['', `sign in as owner@localhost with ${ownerToken}`],
  ]
  const lines = rows.map(([name, text]) => `  ${name!.padEnd(11)}${text}\n`)
  const body = '{"userId":"u-1","event":"Hello","messageId":"hello-1"}'
  stdout.write(`\nThe cluster runs.\n\n${lines.join('')}
Send an event:

  curl -u ${writeKey}: ${cluster.urlOf('gateway 1')}/v1/track -d '${body}'

Trace it, and check the cluster, in another terminal:

  export $(cat ${settingsFile})
  npm run millrace -- trace hello-1
  npm run millrace -- doctor

Kill a process with kill -9 and send on: nothing is lost. Ctrl-C stops everything and deletes the data.
`)
  await stopped
}

/** Makes a source. @returns its write key. */
async function demoSource(control: string, token: string): Promise<string> {
  const answer = await fetch(`${control}/v2/sources`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: 'Demo', type: 'HTTP' }),
  })
  if (!answer.ok) throw new Error(`the control process refused a source with ${answer.status}`)
  const { source } = (await answer.json()) as { source: { writeKey: string } }
  return source.writeKey
}
