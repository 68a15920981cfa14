import { availableParallelism } from 'node:os'
import type { Settings } from '../config/settings.ts'

const MAX_DEFAULT = 8

/** How many threads deliver: one processor is left for accepting. */
export function threadCount({ deliveryThreads }: Pick<Settings, 'deliveryThreads'>): number {
  return deliveryThreads ?? Math.max(1, Math.min(MAX_DEFAULT, availableParallelism() - 1))
}
