import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'

/*
 * For child-command.test.ts: tries in a child process what code would that has escaped the sandbox, and writes what came
 * of it. Its argument is a TCP port that accepts connections.
 */
const port = Number(process.argv[2])
const attempts: Readonly<Record<string, () => unknown>> = {
  'read a file': () => readFileSync('/etc/hostname'),
  'read the source of the server': () => readFileSync(path.join(import.meta.dirname, '../../../../package.json')),
  'list a folder': () => readdirSync('/'),
  'write a file': () => writeFileSync(path.join(tmpdir(), 'millrace-child-probe'), ''),
  'start a process': () => spawnSync('true'),
  'start a thread': () => new Worker('1', { eval: true }),
  connect: () =>
    new Promise((resolve, reject) => connect(port, '127.0.0.1').once('connect', resolve).once('error', reject)),
  'resolve a name': () => lookup('localhost'),
  'send a datagram': () =>
    new Promise((resolve, reject) => {
      const socket = createSocket('udp4').once('error', reject)
      socket.send('x', port, '127.0.0.1', (error) => (error ? reject(error) : resolve(undefined)))
    }),
}

const outcomes: [string, string][] = []
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt()
    outcomes.push([name, 'done'])
  } catch (error) {
    outcomes.push([name, (error as { code?: string }).code ?? String(error)])
  }
}
process.stdout.write(JSON.stringify({ outcomes, environment: Object.keys(process.env) }))
process.exit()
