import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.dirname(import.meta.dirname)

/** What the newest release before this version was; the next release moves it on. */
export const PREVIOUS_RELEASE = '030e07c5b5b7'
/** The same for clusters, which that release did not have. */
export const PREVIOUS_CLUSTER_RELEASE = '7d99607e00ef'

/**
 * The code of an earlier commit in a folder, ready to run on the dependencies that are installed here; its own packages are
 * its own.
 */
export function checkOut(commit: string, folder: string): void {
  mkdirSync(folder)
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 256 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  const modules = path.join(folder, 'node_modules')
  mkdirSync(path.join(modules, '@millrace'), { recursive: true })
  for (const name of readdirSync(path.join(ROOT, 'node_modules'))) {
    if (name.startsWith('.') || name === '@millrace') continue
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name))
  }
  for (const kind of ['packages', 'apps']) {
    for (const name of readdirSync(path.join(folder, kind))) {
      symlinkSync(path.join(folder, kind, name), path.join(modules, '@millrace', name))
    }
  }
}
