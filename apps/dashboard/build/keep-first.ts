import { existsSync, renameSync } from 'node:fs'

/**
 * Gives the folder `made` the name `kept`, unless another process was faster: then its folder stays, and `made` is left
 * where it is.
 *
 * @throws Error of the file system, when there is no `kept` afterwards.
 */
export function keepFirst(made: string, kept: string): void {
  try {
    renameSync(made, kept)
  } catch (error) {
    // A check before the rename would leave a moment in which the other may come.
    if (!existsSync(kept)) throw error
  }
}
