import { setFlagsFromString } from 'node:v8'

/**
 * From now on V8 manages the memory of all threads of the process for a server whose load comes and goes:
 *
 * - It creates every object young.
 * - It gives room back, and drops compiled code, after a minute of little work instead of 8 s.
 * - Between two full collections the old objects may double. V8's own factor after a pause is 1.1 to 1.3, so a load began with several of them.
 *
 * Call it after the start: V8 rejects cached code that was compiled under other flags, so an earlier call makes the start longer.
 *
 * @see decisions 0112, 0114
 */
export function setHeapFlags(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--memory-reducer-delay-ms=60000')
  setFlagsFromString('--heap-growing-percent=100')
}
