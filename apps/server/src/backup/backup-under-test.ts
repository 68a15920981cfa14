import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compose } from '../compose.ts'
import { loadSettings, settingsInForce } from '../config/settings.ts'
import { DataFolder } from '../data-folder/data-folder.ts'
import { Faults } from '../faults.ts'
import { Front } from '../http/front.ts'
import { newLogger } from '../logger.ts'
import { BackupFileWriter } from './backup-file-writer.ts'
import type { BackupMember, Manifest } from './manifest.ts'

const TOKEN = 'backup-owner-0123456789-0123456789'

export interface MadeBackup {
  readonly file: string
  /** Ids of its resources. */
  readonly sourceId: string
  readonly destinationId: string
}

/** Makes a backup of a server with a source, a webhook that never answers, and `events` events. */
export async function makeBackup(folder: string, events: number, body: object = {}): Promise<MadeBackup> {
  const environment = {
    MILLRACE_DATA_DIR: join(folder, 'data'),
    MILLRACE_BACKUP_DIR: folder,
    MILLRACE_PORT: '0',
    MILLRACE_MIN_FREE_DISK_MB: '0',
    MILLRACE_LOG_LEVEL: 'error',
    MILLRACE_SHUTDOWN_SECONDS: '0',
  }
  const settings = loadSettings(environment)
  using data = DataFolder.open(settings.dataDir)
  const front = await Front.listen(settings.host, settings.port)
  const shownSettings = settingsInForce(environment)
  const logger = newLogger('error')
  const faults = new Faults(logger)
  const product = await compose({ settings, shownSettings, folder: data, front, logger, faults })
  await product.controlPlane.ensureOwner({ token: TOKEN })
  const call = async (path: string, sent: object, authorization = `Bearer ${TOKEN}`) => {
    const init = { method: 'POST', headers: { authorization }, body: JSON.stringify(sent) }
    const answer = await fetch(product.baseUrl + path, init)
    return answer.text()
  }
  const post = async (path: string, sent: object) => JSON.parse(await call(path, sent))
  // The first source lies in the first partition of the log; the events that count lie in another one.
  await post('/v2/sources', { name: 'Quiet', type: 'HTTP' })
  const { source } = await post('/v2/sources', { name: 'Source', type: 'HTTP' })
  // Loopback is allowed here, and no receiver listens: every event waits.
  const config = { webhookUrl: 'http://127.0.0.1:9/hook' }
  const { destination } = await post('/v2/destinations', { name: 'Booking hook', type: 'WEBHOOK', config })
  await post('/v2/connections', { sourceId: source.id, destinationId: destination.id })
  const batch = Array.from({ length: events }, (_, i) => ({ type: 'track', event: 'x', userId: `u-${i}` }))
  if (events > 0) await call('/v1/batch', { batch }, `Basic ${btoa(`${source.writeKey}:`)}`)
  const { backup } = await post('/v2/admin/backup', body)
  for (let state = 'running'; state !== 'done'; ) {
    const answer = await fetch(`${product.baseUrl}/v2/admin/info`, { headers: { authorization: `Bearer ${TOKEN}` } })
    state = ((await answer.json()) as { info: { lastBackup: { state: string } } }).info.lastBackup.state
    if (state === 'failed') throw new Error('the backup failed')
  }
  await product.stop()
  return { file: join(folder, backup.file), sourceId: source.id, destinationId: destination.id }
}

/** Packs a backup again after a change of its content, with a valid manifest. */
export function repack(
  file: string,
  into: string,
  change: (folder: string) => void,
  head: Partial<Manifest> = {},
): void {
  const folder = `${into}.unpacked`
  mkdirSync(folder)
  execFileSync('tar', ['-xf', file, '-C', folder])
  const { members, ...manifest } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
  change(folder)
  {
    using writer = new BackupFileWriter(into, Date.parse(manifest.createdAt))
    for (const { name } of members.slice(1) as BackupMember[]) writer.addFile(name, join(folder, name))
    writer.finish({ ...manifest, ...head })
  }
  rmSync(folder, { recursive: true })
}
