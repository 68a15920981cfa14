import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Linux counts in hundredths of a second, whatever the kernel's own tick. */
const TICK_MS = 10

/** CPU time of a process with all its threads and children, so far. */
export function cpuMs(pid: number): number {
  return sum(family(pid), (each) => cpuMsOf(`${each}`))
}

const REST_MS = 250
/** A process without work uses one tick in this time, if any. */
const MAX_RESTING_CPU_MS = 20

/** Waits until a process has done the work that the last load left to it. */
export async function atRest(pid: number): Promise<void> {
  for (let before = cpuMs(pid); ; ) {
    await delay(REST_MS)
    const now = cpuMs(pid)
    if (now - before <= MAX_RESTING_CPU_MS) return
    before = now
  }
}

/** @param folder of a process or thread below /proc. */
function cpuMsOf(folder: string): number {
  const fields = statOf(folder)
  if (fields === undefined) return 0
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** CPU time of the threads of a process, so far, by name; threads of one name together. */
export function cpuMsByThread(pid: number): ReadonlyMap<string, number> {
  const byName = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `${pid}/task/${thread}`
    const name = textOf(`/proc/${folder}/comm`)?.trim()
    if (name === undefined) continue
    byName.set(name, (byName.get(name) ?? 0) + cpuMsOf(folder))
  }
  return byName
}

/** Resident memory of a process and its children; what they share counts for each. */
export function residentBytes(pid: number): number {
  return sum(family(pid), (each) => {
    const status = readFileSync(`/proc/${each}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024
  })
}

function family(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  const children = threads.flatMap((thread) =>
    (textOf(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(family)]
}

/** The fields after the name, which may itself hold spaces; the first is the state. */
function statOf(folder: string): string[] | undefined {
  const text = textOf(`/proc/${folder}/stat`)
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** Undefined: the thread or process has ended meanwhile. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0)
}
