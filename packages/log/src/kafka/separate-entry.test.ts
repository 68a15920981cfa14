import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'

const LIST_IMPORTS = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
await import(process.argv[2])
process.stdout.write(loaded.join('\\n'))
`

test('the log of the embedded server loads nothing of Kafka, its own entry does', () => {
  const [log, kafka] = ['../index.ts', './index.ts'].map((entry) => modulesOf(path.join(import.meta.dirname, entry)))
  const ofKafka = (url: string) => url.includes('/@platformatic/') || url.includes('/log/src/kafka')
  expect(log!.length).toBeGreaterThan(10)
  expect(log!.filter(ofKafka)).toEqual([])
  expect(kafka!.filter(ofKafka).length).toBeGreaterThan(10)
})

/** What an import of a file loads, in a process of its own. */
function modulesOf(file: string): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-imports-'))
  try {
    const program = path.join(folder, 'list.mjs')
    writeFileSync(program, LIST_IMPORTS)
    return execFileSync(process.execPath, [program, file], { encoding: 'utf8' }).split('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
