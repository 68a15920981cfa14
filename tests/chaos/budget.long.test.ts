import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Sink } from '@millrace/dev-env'
import { expect, test } from 'vitest'
import { clientOf } from '../e2e/client.ts'
import { PLAIN, ServerProcess } from '../e2e/server-process.ts'

/*
 * contracts/delivery.md §12 item 29: a destination stays dead until the storage budget is used up. Clients
 * and the other destination must not notice it, and an operator must see it in every place where one looks.
 */

const BUDGET_MB = 1
const EVENTS_PER_BATCH = 20
const EVENT_BYTES = 1_000
/** Sent until what the dead one holds has been given up several times over. */
const BATCHES = 200
const DEADLINE_MS = 60_000

test('a dead destination uses up the budget: its oldest events expire, and nobody else notices', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-budget-'))
  await using healthy = await Sink.open()
  await using dead = await Sink.open()
  dead.answer = () => ({ status: 503 })
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, MILLRACE_BACKLOG_MAX_MB: `${BUDGET_MB}` }
  await using server = await ServerProcess.start(environment)
  const { call } = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  const { source } = (await call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
  const hook = async (name: string, { url }: Sink): Promise<string> => {
    const made = (await call('POST', '/v2/destinations', { name, type: 'WEBHOOK', config: { webhookUrl: url } })).json
    const ids = { sourceId: source.id, destinationId: made.destination.id }
    expect((await call('POST', '/v2/connections', ids)).status).toBe(200)
    return ids.destinationId
  }
  const [healthyId, deadId] = [await hook('Healthy', healthy), await hook('Dead', dead)]
  const health = async () => {
    const answer = await fetch(`${server.url}/health`)
    return { status: answer.status, backlog: ((await answer.json()) as { checks: { backlog: string } }).checks.backlog }
  }
  const until = async (what: string, isMet: () => Promise<boolean>) => {
    for (const end = performance.now() + DEADLINE_MS; !(await isMet()); await setTimeout(50)) {
      if (performance.now() > end) throw new Error(`${what} did not come; the log: ${server.stderr.slice(-2_000)}`)
    }
  }
  const seen = new Set<string>()
  healthy.answer = ({ json }) => {
    seen.add(json.messageId)
    return {}
  }

  // 80 % and more of it: named, and nothing is lost yet.
  expect((await health()).backlog).toBe('ok')
  let sent = 0
  const send = async () => {
    const batch = Array.from({ length: EVENTS_PER_BATCH }, () => ({
      ...{ type: 'track', event: 'Kept', userId: `u-${sent % 50}`, messageId: `m-${sent++}` },
      properties: { padding: 'x'.repeat(EVENT_BYTES - 150) },
    }))
    const body = JSON.stringify({ writeKey: source.writeKey, batch })
    const answer = await fetch(`${server.url}/v1/batch`, { method: 'POST', body })
    expect(answer.status).toBe(200)
  }
  const full = Math.floor((BUDGET_MB * 1024 * 1024) / (EVENT_BYTES * EVENTS_PER_BATCH))
  for (let n = 0; n < Math.floor(full * 0.88); n++) await send()
  await until('the warning', async () => (await health()).backlog !== 'ok')
  expect(await health()).toEqual({ status: 200, backlog: expect.stringMatching(`^[89]\\d % used, most by ${deadId}$`) })
  expect(server.stderr).toContain('the backlog is above 80 % of its limit')

  // Far beyond it: clients are answered 200 all the time, and the other destination gets everything.
  while (sent < BATCHES * EVENTS_PER_BATCH) await send()
  await until('every event at the healthy destination', async () => seen.size === sent)
  const state = async (id: string) => (await call('GET', `/v2/destinations/${id}/delivery`)).json
  await until('the end of the expiry', async () => (await state(deadId)).backlogBytes <= BUDGET_MB * 1024 * 1024)
  const { expired } = await state(deadId)
  expect(expired).toBeGreaterThan(sent - full * EVENTS_PER_BATCH * 1.1)
  expect(expired).toBeLessThan(sent - full * EVENTS_PER_BATCH * 0.8)
  expect(await state(healthyId)).toMatchObject({ expired: 0, pending: 0, retrying: 0 })
  const trace = async (messageId: string) => {
    const { json } = await call('GET', `/v2/events/${messageId}`)
    const journeys = json.events[0].destinations as { destinationId: string; outcome: string; reason: string | null }[]
    return Object.fromEntries(journeys.map(({ destinationId, outcome, reason }) => [destinationId, [outcome, reason]]))
  }
  expect(await trace('m-30')).toEqual({ [healthyId]: ['delivered', null], [deadId]: ['expired', 'storage budget'] })
  expect((await trace(`m-${sent - 1}`))[deadId]![0]).toMatch(/pending|blocked/)

  // Count, metric and audit entry agree, and the count is the same after a kill.
  const metric = async (url: string) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(new RegExp(`^millrace_expired_total\\{destination_id="${deadId}"\\} (\\d+)$`, 'm').exec(text)?.[1])
  }
  expect(await metric(server.url)).toBe(expired)
  expect(await server.stop()).toBe(0)
  await using again = await ServerProcess.start(environment)
  const second = clientOf(again.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  const { entries } = (await second.call('GET', `/v2/audit-log?resourceId=${deadId}`)).json
  const told = (entries as { action: string; actor: string; diff: { to: number }[] }[])
    .filter(({ action, actor }) => action === 'expire' && actor === 'millrace')
    .reduce((sum, { diff }) => sum + diff[0]!.to, 0)
  expect(told).toBe(expired)
  expect(await metric(again.url)).toBe(expired)

  // What was not given up arrives when the destination lives again, and nothing else.
  dead.clear()
  const revived = new Set<string>()
  dead.answer = ({ json }) => {
    revived.add(json.messageId)
    return {}
  }
  await until('what was left', async () => revived.size >= sent - expired)
  expect(revived.has('m-30')).toBe(false)
  expect(revived.size).toBe(sent - expired)
  process.stdout.write(`${sent} accepted, ${expired} expired, ${revived.size} delivered late, 0 lost\n`)
})
