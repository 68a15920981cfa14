import { copyFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Sink } from '@millrace/dev-env'
import { expect, test } from 'vitest'
import { type Client, clientOf } from '../e2e/client.ts'
import { command } from '../e2e/command.ts'
import { PLAIN, ServerProcess } from '../e2e/server-process.ts'

/* A restore without the log; one with everything, under load, is R12 of the chaos programs. */

const TOKEN = PLAIN['MILLRACE_OWNER_TOKEN']!

test('restored without its log, a server delivers what comes next, also of users whose events waited', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-backup-'))
  const [first, second] = [join(folder.path, 'first'), join(folder.path, 'second')]
  await using sink = await Sink.open()
  sink.answer = ({ json }) => ({ status: json.userId === 'waits' ? 500 : 200 })
  let file: string
  let writeKey: string
  {
    await using original = await ServerProcess.start({ ...PLAIN, MILLRACE_DATA_DIR: first })
    const client = clientOf(original.url, TOKEN)
    const { source } = (await client.call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
    const { destinationId } = await connect(client, source.id, 'Hook', sink.url)
    writeKey = source.writeKey
    const track = (messageId: string, userId: string) => sendEvent(original.url, writeKey, messageId, userId)
    await track('m-1', 'waits')
    await client.untilOutcome('m-1', destinationId, 'retrying')
    await track('m-2', 'waits')
    for (let i = 0; i < 20; i++) await track(`m-delivered-${i}`, 'other')
    await client.untilOutcome('m-delivered-19', destinationId, 'delivered')
    file = (await client.call('POST', '/v2/admin/backup', { log: false })).json.backup.file
    await untilEnded(client)
  }
  expect((await command(['restore', join(first, 'backups', file)], { MILLRACE_DATA_DIR: second })).code).toBe(0)
  copyFileSync(join(first, 'secret.key'), join(second, 'secret.key'))
  sink.clear()
  sink.answer = () => ({})
  await using copy = await ServerProcess.start({ ...PLAIN, MILLRACE_DATA_DIR: second })
  // More than there were: none of them may be taken for one that has its outcome already.
  for (let i = 0; i < 30; i++) await sendEvent(copy.url, writeKey, `n-${i}`, i % 2 === 0 ? 'waits' : 'other')
  const received = await sink.waitFor(30)
  const messageIds = received.map(({ json }) => json.messageId)
  expect(messageIds.sort()).toEqual(Array.from({ length: 30 }, (_, i) => `n-${i}`).sort())
})

async function sendEvent(url: string, writeKey: string, messageId: string, userId: string): Promise<void> {
  const body = JSON.stringify({ messageId, userId, event: 'x' })
  const headers = { authorization: `Basic ${btoa(`${writeKey}:`)}` }
  const { status } = await fetch(`${url}/v1/track`, { method: 'POST', headers, body })
  if (status !== 200) throw new Error(`${messageId} was answered ${status}`)
}

async function untilEnded(client: Client): Promise<void> {
  while ((await lastBackup(client)).state === 'running') await setTimeout(5)
}

async function connect({ call }: Client, sourceId: string, name: string, webhookUrl: string) {
  const { destination } = (await call('POST', '/v2/destinations', { name, type: 'WEBHOOK', config: { webhookUrl } }))
    .json
  return (await call('POST', '/v2/connections', { sourceId, destinationId: destination.id })).json.connection
}

async function lastBackup({ call }: Client) {
  return (await call('GET', '/v2/admin/info')).json.info.lastBackup
}
