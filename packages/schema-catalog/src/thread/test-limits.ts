import type { CatalogLimits } from '../limits.ts'

/** Limits that no test reaches by accident. */
export const TEST_LIMITS: CatalogLimits = {
  sourceBytes: 2 ** 30,
  modelsPerSource: 2_000,
  versionsPerModel: 200,
  keysPerEvent: 500,
  keysPerModel: 2_000,
  arrayItems: 20,
  frequentPer: 100,
  valuesPerKey: 256,
  valuesPerVersion: 100_000,
  cacheBytes: 64 * 1024 * 1024,
  samples: 5,
  capturesUnknowns: false,
}
