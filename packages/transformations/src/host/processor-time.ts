import { readFileSync } from 'node:fs'

/** Of the clock in which Linux counts processor time for users, whatever its own is. */
const TICK_MS = 10

/**
 * Processor time that another process has used so far, over all of its threads, in steps of 10 ms.
 *
 * @returns undefined where the system does not tell, or when the process has ended.
 */
export function processorMs(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program comes second, in brackets, and may have any character.
    const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(user) + Number(system)) * TICK_MS
  } catch {
    return undefined
  }
}
