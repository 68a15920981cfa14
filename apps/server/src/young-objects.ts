import { setFlagsFromString } from 'node:v8'

/**
 * From now on V8 creates every object young, in all threads of the process. Call it after the start: V8 rejects cached code that was
 * compiled under other flags, so an earlier call makes the start longer.
 *
 * @see decision 0112
 */
export function keepNewObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
