import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'

/**
 * Bytes of memory that another process has in use, while that process cannot say so itself.
 *
 * @returns undefined where the system does not tell (Windows), or when the process has ended.
 */
export async function residentMemory(pid: number): Promise<number | undefined> {
  try {
    if (process.platform === 'linux') {
      const status = await readFile(`/proc/${pid}/status`, 'latin1')
      return kilobytes(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
    }
    if (process.platform === 'win32') return undefined
    return await new Promise((resolve) => {
      execFile('ps', ['-o', 'rss=', '-p', String(pid)], (_error, stdout) => resolve(kilobytes(stdout.trim())))
    })
  } catch {
    return undefined
  }
}

function kilobytes(text: string | undefined): number | undefined {
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text) * 1024
}
