import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { compose, type Product } from './compose.ts'
import { loadSettings, settingsInForce } from './config/settings.ts'
import { DataFolder } from './data-folder/data-folder.ts'
import { Faults } from './faults.ts'
import { Front } from './http/front.ts'
import { newLogger } from './logger.ts'

/** What makes each step fail. @returns what puts it right. */
const steps: Record<string, (data: string) => () => void> = {
  'the configuration': (data) => otherKind(data, 'control.db'),
  'the store of deliveries': (data) => otherKind(data, 'delivery.db'),
  'the log': (data) => otherKind(data, 'log'),
  delivery: (data) => {
    rename(data, 'spans', 'elsewhere')
    return () => rename(data, 'elsewhere', 'spans')
  },
  'the catalog': (data) => otherKind(data, 'admin-password'),
  operations: (data) => otherKind(data, 'inbox.key'),
}

describe('a start that fails half-way closes what it has opened, and the next one works:', () => {
  for (const [step, breaks] of Object.entries(steps)) {
    test(step, async () => {
      const data = mkdtempSync(join(tmpdir(), 'millrace-compose-'))
      await started(data, (product) => product.stop())
      const mend = breaks(data)
      await expect(started(data, (product) => product.stop())).rejects.toThrow()
      expect(openFilesBelow(data)).toEqual([])
      mend()
      expect(unendedRuns(data)).toBe(0)
      await started(data, async (product) => {
        expect(await (await fetch(`${product.baseUrl}/ready`)).json()).toEqual({ ready: true })
        expect(openFilesBelow(data)).not.toEqual([])
        await product.stop()
      })
      rmSync(data, { recursive: true })
    })
  }
})

/** Starts the product in a data folder, and hands it over. */
async function started(data: string, use: (product: Product) => Promise<void>): Promise<void> {
  const environment = { MILLRACE_DATA_DIR: data, MILLRACE_PORT: '0', MILLRACE_SHUTDOWN_SECONDS: '0' }
  const settings = loadSettings(environment)
  using folder = DataFolder.open(data)
  await using front = await Front.listen(settings.host, settings.port)
  const logger = newLogger('silent')
  const faults = new Faults(logger)
  const shownSettings = settingsInForce(environment)
  await use(await compose({ settings, shownSettings, folder, front, logger, faults }))
}

/** Puts a folder where a file is to be, or a file where a folder is to be. */
function otherKind(data: string, name: string): () => void {
  const path = join(data, name)
  const was = existsSync(path) ? statSync(path) : undefined
  if (was !== undefined) renameSync(path, `${data}.kept`)
  if (was?.isDirectory()) writeFileSync(path, '')
  else mkdirSync(path)
  return () => {
    rmSync(path, { recursive: true })
    if (was !== undefined) renameSync(`${data}.kept`, path)
  }
}

function rename(data: string, from: string, to: string): void {
  const database = new DatabaseSync(join(data, 'delivery.db'))
  database.exec(`ALTER TABLE ${from} RENAME TO ${to}`)
  database.close()
}

/** Runs of deliveries that have begun and not ended in order. */
function unendedRuns(data: string): number {
  const database = new DatabaseSync(join(data, 'delivery.db'))
  try {
    return Number(database.prepare('SELECT count(*) AS runs FROM runs').get()!['runs'])
  } finally {
    database.close()
  }
}

/** Of this process, its threads included. */
function openFilesBelow(folder: string): string[] {
  if (!existsSync('/proc/self/fd')) {
    const lines = execFileSync('lsof', ['-Fn', '-p', String(process.pid)], { encoding: 'utf8' }).split('\n')
    return lines.filter((line) => line.startsWith(`n${folder}`))
  }
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`)
      return target.startsWith(folder) ? [target] : []
    } catch {
      return []
    }
  })
}
