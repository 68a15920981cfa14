import { MB, number, trueOrFalse } from './setting.ts'

/** Bounds of the schema catalog, by their member of `Settings`. @see contracts/schema-catalog.md §9 */
export const SCHEMA_SETTINGS = {
  schemaSourceBytes: number('MILLRACE_SCHEMA_SOURCE_MB', 1_024, {
    purpose: 'Maximum catalog data per source, in MB; above it events are only counted.',
    from: 1,
    to: 1_048_576,
    factor: MB,
  }),
  schemaModels: number('MILLRACE_SCHEMA_MODELS_MAX', 2_000, {
    purpose: 'Maximum event models per source; further names count in one model.',
    from: 1,
    to: 100_000,
  }),
  schemaVersions: number('MILLRACE_SCHEMA_VERSIONS_MAX', 200, {
    purpose: 'Maximum versions per event model; further versions count in the model only.',
    from: 1,
    to: 10_000,
  }),
  schemaKeysPerEvent: number('MILLRACE_SCHEMA_KEYS_PER_EVENT', 500, {
    purpose: 'Maximum keys per event; further keys are cut.',
    from: 1,
    to: 10_000,
  }),
  schemaKeysPerModel: number('MILLRACE_SCHEMA_KEYS_PER_MODEL', 2_000, {
    purpose: 'Maximum keys per event model.',
    from: 1,
    to: 20_000,
  }),
  schemaArrayItems: number('MILLRACE_SCHEMA_ARRAY_ITEMS', 20, {
    purpose: 'Maximum array elements that give keys.',
    from: 0,
    to: 1_000,
  }),
  schemaFrequentPer: number('MILLRACE_SCHEMA_FREQUENT_PER', 100, {
    purpose: 'A value is frequent if it occurs at least once in this number of observations.',
    from: 2,
    to: 100,
  }),
  schemaValuesPerKey: number('MILLRACE_SCHEMA_VALUES_PER_KEY', 256, {
    purpose: 'Value counters per key; at least 2.56 times MILLRACE_SCHEMA_FREQUENT_PER.',
    from: 200,
    to: 100_000,
  }),
  schemaValuesTotal: number('MILLRACE_SCHEMA_VALUES_TOTAL', 100_000, {
    purpose: 'Value counters per version.',
    from: 1_000,
    to: 10_000_000,
  }),
  schemaCacheBytes: number('MILLRACE_SCHEMA_CACHE_MB', 64, {
    purpose: 'Cache size of the schema catalog, in MB.',
    from: 1,
    to: 65_536,
    factor: MB,
  }),
  schemaSamples: number('MILLRACE_SCHEMA_SAMPLES', 5, {
    purpose: 'Sampled events per model and version.',
    from: 0,
    to: 100,
    zero: 'none',
  }),
  schemaCapturesUnknowns: trueOrFalse(
    'MILLRACE_SCHEMA_CAPTURE_UNKNOWNS',
    'false',
    'Whether null values count as keys of type unknown.',
  ),
}
