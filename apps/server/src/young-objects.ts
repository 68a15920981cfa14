import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 create every new object among the young ones, whatever it has observed, in all threads. Call it when the start is over: V8 rejects
 * cached code, also of Node's own modules, that was compiled under other flags.
 *
 * @see decision 0112
 */
export function keepNewObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
