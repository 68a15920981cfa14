import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { TestPlane } from './testing/test-plane.ts'

const ROUNDS = 5
const WRITES_PER_ROUND = 200
const RESOURCES: readonly string[] = ['source', 'destination', 'connection']

test('kill -9 during 1,000 writes leaves every answered write present with its audit entry, and no half-written resource', async () => {
  await using plane = await TestPlane.open()
  const answered = new Map<string, { kind: string; name: string }>()
  for (let round = 0; round < ROUNDS; round++) {
    await writeAndKill(plane.file, round, (kind, id, name) => answered.set(id, { kind, name }))
    await plane.reopen()
    const { sources, destinations, connections } = plane.plane.snapshot()
    const missing = [...answered].filter(([id, { kind, name }]) => {
      if (kind === 'connection') return !connections.has(id)
      // The last rename may be stored without having been told of.
      const stored = (kind === 'source' ? sources : destinations).get(id)
      return stored === undefined || !stored.name.startsWith(name)
    })
    expect(missing).toEqual([])
    for (const { name, config } of destinations.values()) expect(config['signingSecret']).toBe(name)
    for (const { sourceId, destinationId } of connections.values()) {
      expect(sources.has(sourceId) && destinations.has(destinationId)).toBe(true)
    }
    const entries = await plane.plane.audit.entries({ limit: 1_000_000 })
    const made = entries.filter(({ action, kind }) => action === 'create' && RESOURCES.includes(kind))
    expect(made.map(({ resourceId }) => resourceId).sort()).toEqual(
      [...sources.keys(), ...destinations.keys(), ...connections.keys()].sort(),
    )
    // At most the one write under way is there without having been told of.
    const stored = sources.size + destinations.size + connections.size
    expect(stored - answered.size).toBeLessThanOrEqual(round + 1)
  }
  expect(answered.size).toBeGreaterThan((ROUNDS * WRITES_PER_ROUND * 3) / 4 - ROUNDS * 4)
})

/** Lets a process write, and kills it after so many answers; what it tells until its end still counts. */
async function writeAndKill(
  file: string,
  round: number,
  onAnswer: (kind: string, id: string, name: string) => void,
): Promise<void> {
  const program = fileURLToPath(new URL('./testing/writing-process.ts', import.meta.url))
  const writer = spawn(process.execPath, [program, file, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(writer, 'close')
  let answers = 0
  for await (const line of createInterface(writer.stdout!)) {
    const [, kind, id, name] = /^(\w+) (\w+) (.*)$/.exec(line)!
    onAnswer(kind!, id!, name!)
    if (++answers === WRITES_PER_ROUND) writer.kill('SIGKILL')
  }
  const [, signal] = await closed
  expect(signal).toBe('SIGKILL')
}
