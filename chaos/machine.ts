import { execFileSync } from 'node:child_process'
import { closeSync, globSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const MB = 1024 * 1024

/** What of this machine has to be there to break things from outside; each is undefined when it is. */
export const cannot = {
  mount: () =>
    process.getuid?.() === 0 && process.platform === 'linux' ? undefined : 'only root can mount a small disk',
  fakeTime: () =>
    libfaketime() === undefined
      ? 'libfaketime is not installed (Debian package faketime): the clock cannot be set'
      : undefined,
  readCommit: (commit: string) => {
    const git = works(() =>
      execFileSync('git', ['cat-file', '-e', `${commit}^{tree}`], { cwd: import.meta.dirname, stdio: 'pipe' }),
    )
    return git ? undefined : `the release before is commit ${commit}, which this clone does not have`
  },
}

export function libfaketime(): string | undefined {
  return globSync('/usr/lib/*/faketime/libfaketime.so.1')[0]
}

const disks = new Set<SmallDisk>()

/** However a run ends, no disk stays. */
export function takeAllDisksAway(): void {
  for (const disk of disks) disk[Symbol.dispose]()
}

/** A disk of its own in memory, as small as needed, taken away when it is disposed of. */
export class SmallDisk implements Disposable {
  readonly path: string

  constructor(path: string, megabytes: number) {
    this.path = path
    mkdirSync(path, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
    disks.add(this)
  }

  /** Fills it to the last page, or up to so many bytes that stay free. */
  fill(freeBytes = 0): void {
    const file = join(this.path, 'ballast')
    for (const bytes of [Buffer.alloc(MB), Buffer.alloc(4_096)]) {
      while (works(() => writeFileSync(file, bytes, { flag: 'a' })));
    }
    if (freeBytes > 0) execFileSync('truncate', ['-s', `-${freeBytes}`, file])
  }

  free(): void {
    rmSync(join(this.path, 'ballast'), { force: true })
  }

  /** Only while nothing on it is open for writing. */
  remount(option: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${option}`, this.path])
  }

  [Symbol.dispose](): void {
    if (disks.delete(this)) execFileSync('umount', ['-l', this.path], { stdio: 'pipe' })
  }
}

/** Files that nobody may write, root neither and not over what is open already, while it is not disposed of. */
export class Forbidden implements Disposable {
  #paths: readonly string[]

  /** @throws Error where the file system knows no such thing. */
  constructor(...paths: string[]) {
    this.#paths = paths
    execFileSync('chattr', ['+i', ...paths], { stdio: 'pipe' })
  }

  [Symbol.dispose](): void {
    if (this.#paths.length > 0) execFileSync('chattr', ['-i', ...this.#paths], { stdio: 'pipe' })
    this.#paths = []
  }
}

/** Whether files can be forbidden in a folder. A file system in memory still writes to those that are open. */
export function canForbid(folder: string): boolean {
  const file = join(folder, 'forbidden')
  const open = openSync(file, 'w')
  try {
    using _forbidden = new Forbidden(file)
    return !works(() => writeSync(open, 'written'))
  } catch {
    return false
  } finally {
    closeSync(open)
    rmSync(file)
  }
}

function works(attempt: () => void): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
