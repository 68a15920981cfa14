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
  const stopped = untilStopped()
  const starting = DemoCluster.start(env, (what) => void stderr.write(`${what}\n`))
  await using cluster = await starting
  let isEnding = false
  for (const each of cluster.processes) {
    each.onEnd((how) => isEnding || void stderr.write(`${each.name}: ${how}\n`))
  }
  const control = cluster.urlOf('control')
  const writeKey = await demoSource(control, cluster.ownerToken)
  const rows = [
    ...cluster.processes.map(({ name, url, pid }) => [name, `${url}  (process ${pid})`]),
    ['kafka', cluster.kafka.join(', ')],
    ['postgres', cluster.postgres],
    ['dashboard', `${control}/ui/  sign in as owner@localhost with ${cluster.ownerToken}`],
  ]
  const lines = rows.map(([name, text]) => `  ${name!.padEnd(11)}${text}\n`)
  const body = '{"userId":"u-1","event":"Hello","messageId":"hello-1"}'
  stdout.write(`\nThe cluster runs.\n\n${lines.join('')}
Send an event, and trace it:

  curl -u ${writeKey}: ${cluster.urlOf('gateway 1')}/v1/track -d '${body}'
  millrace trace hello-1 --url ${control} --token ${cluster.ownerToken}

Kill a process with kill -9 and send on: nothing is lost. Ctrl-C stops everything and deletes the data.
`)
  await stopped
  isEnding = true
  stderr.write('stopping\n')
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
