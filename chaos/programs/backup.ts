import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Load } from '../load.ts'
import { command, Product } from '../product.ts'
import { counted, type Program, type Run } from '../program.ts'
import { addDestination, checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { type Webhook, Webhooks } from '../webhooks.ts'

const LISTS = ['/v2/sources', '/v2/users', '/v2/credentials']
const DRAIN_MS = 90_000
const MAX_LATE = 20

/** One webhook answers, one does not before the restore; connections are made and disabled while the backup runs. */
export const backup: Program = {
  id: 'R12',
  title: 'backup under load, restore into an empty folder',
  limitSeconds: { short: 180, full: 1_200 },
  async run(run) {
    const rounds = run.pick({ short: 1, full: 12 })
    const facts: string[] = []
    for (let round = 0; round < rounds && !run.signal.aborted; round++) {
      run.say(`backup ${round + 1} of ${rounds}`)
      const last = await once(run, join(run.folder, `${round}`))
      if (round === rounds - 1) facts.push(...last)
    }
    return [counted(rounds, 'backups restored'), ...facts]
  },
}

async function once(run: Run, folder: string): Promise<string[]> {
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  await using webhooks = await Webhooks.open(3)
  const [open, held, late] = webhooks.all as [Webhook, Webhook, Webhook]
  held.answer = () => 'hang'
  await using original = await Product.start({ folder: first })
  const { sourceId, writeKey } = await makeSource(original, [open.url, held.url])
  await original.call('PUT', '/v2/credentials/geo_api', { value: 'of-a-credential' })
  await original.call('POST', '/v2/users', { email: 'ada@cinema.example', role: 'editor' })

  const load = new Load(() => ({ url: original.url, writeKey }))
  await load.reached(500 + Math.floor(run.random() * 1_500))
  const acknowledged = [...load.acknowledged]
  const { file } = (await original.call('POST', '/v2/admin/backup')).backup
  const state = async () => (await original.call('GET', '/v2/admin/info')).info.lastBackup.state as string
  for (let made = 0; (await state()) === 'running'; made++) {
    if (made < MAX_LATE) await addDestination(original, sourceId, late.url)
    await delay(run.random() * 20)
  }
  run.check((await state()) === 'done', `the backup ended as ${await state()}`)
  await load.reached(load.acknowledged.length + 100)
  await load.stop()
  run.check(load.refused.length === 0, `${load.refused.length} events were refused during the backup`)
  const lists = await Promise.all(LISTS.map(async (route) => (await original.answer('GET', route)).text))
  checkErrors(run, original)
  await original.kill()

  const restored = await command(['restore', join(first, 'backups', file)], { MILLRACE_DATA_DIR: second })
  run.check(restored.code === 0, `restore ended with ${restored.code}: ${restored.err}`)
  const announced = /up to ([\d,]+) events to Hook \S+\/in\/1\b/.exec(restored.out)?.[1]?.replaceAll(',', '')
  run.check(Number(announced) >= acknowledged.length, `it announced ${announced} of ${acknowledged.length} events`)
  const full = await command(['restore', join(first, 'backups', file)], { MILLRACE_DATA_DIR: second })
  run.check(full.code === 1, `restored into a folder that was not empty, with ${full.code}`)
  copyFileSync(join(first, 'secret.key'), join(second, 'secret.key'))
  held.answer = () => 200
  await using copy = await Product.start({ folder: second })
  const facts = await delivered(run, [open, held], acknowledged, DRAIN_MS)
  for (const [i, route] of LISTS.entries()) {
    run.check((await copy.answer('GET', route)).text === lists[i], `${route} is not what it was`)
  }
  checkErrors(run, copy)
  await stopped(run, copy)
  return facts
}
