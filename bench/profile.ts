import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const MAX_FUNCTIONS = 40
const MAX_FILES = 25

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[]
  /** Node running at each sample, and the time since the sample before. */
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

/** Where the CPU went, of each thread: the functions and files with the most time of their own. */
export function profileSummary(folder: string): string {
  const threads = globSync('*.cpuprofile', { cwd: folder }).sort()
  return threads.map((file) => threadSummary(file, JSON.parse(readFileSync(path.join(folder, file), 'utf8')))).join('')
}

function threadSummary(name: string, { nodes, samples, timeDeltas }: Profile): string {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const byFunction = new Map<string, number>()
  const byFile = new Map<string, number>()
  let busy = 0
  for (const [i, sample] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(sample)!
    if (functionName === '(idle)') continue
    const file = url === '' ? functionName : shortName(url)
    add(byFile, file, timeDeltas[i]!)
    add(
      byFunction,
      url === '' ? functionName : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`,
      timeDeltas[i]!,
    )
    busy += timeDeltas[i]!
  }
  return [
    `\n${name}: ${(busy / 1e6).toFixed(2)} s busy\n`,
    ...largest(byFunction, MAX_FUNCTIONS, busy),
    'by file\n',
    ...largest(byFile, MAX_FILES, busy),
  ].join('')
}

function largest(times: ReadonlyMap<string, number>, count: number, total: number): string[] {
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(
      ([name, time]) =>
        `${((time / total) * 100).toFixed(1).padStart(6)} %  ${(time / 1_000).toFixed(0).padStart(6)} ms  ${name}\n`,
    )
}

function add(times: Map<string, number>, name: string, time: number): void {
  times.set(name, (times.get(name) ?? 0) + time)
}

function shortName(url: string): string {
  return url.split('/').slice(-3).join('/')
}
