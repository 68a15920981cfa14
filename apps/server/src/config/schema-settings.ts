import { MB, number, trueOrFalse } from './setting.ts'

/** Bounds of the schema catalog, by their member of `Settings`. @see contracts/schema-catalog.md §9 */
export const SCHEMA_SETTINGS = {
  schemaSourceBytes: number('MILLRACE_SCHEMA_SOURCE_MB', 1_024, {
    purpose: 'Most that the schema catalog keeps of a source, in MB; beyond it only counts.',
    from: 1,
    to: 1_048_576,
    factor: MB,
  }),
  schemaModels: number('MILLRACE_SCHEMA_MODELS_MAX', 2_000, {
    purpose: 'Most event models of a source; further names count in one.',
    from: 1,
    to: 100_000,
  }),
  schemaVersions: number('MILLRACE_SCHEMA_VERSIONS_MAX', 200, {
    purpose: 'Most versions of an event model; further shapes count in the model only.',
    from: 1,
    to: 10_000,
  }),
  schemaKeysPerEvent: number('MILLRACE_SCHEMA_KEYS_PER_EVENT', 500, {
    purpose: 'Most keys of an event that the schema catalog looks at.',
    from: 1,
    to: 10_000,
  }),
  schemaKeysPerModel: number('MILLRACE_SCHEMA_KEYS_PER_MODEL', 2_000, {
    purpose: 'Most keys of an event model.',
    from: 1,
    to: 20_000,
  }),
  schemaArrayItems: number('MILLRACE_SCHEMA_ARRAY_ITEMS', 20, {
    purpose: 'Elements of an array that give keys.',
    from: 0,
    to: 1_000,
  }),
  schemaFrequentPer: number('MILLRACE_SCHEMA_FREQUENT_PER', 100, {
    purpose: 'A value is frequent when it is one in so many.',
    from: 2,
    to: 100,
  }),
  schemaValuesPerKey: number('MILLRACE_SCHEMA_VALUES_PER_KEY', 256, {
    purpose: 'Counters for the values of a key; at least 2.56 times MILLRACE_SCHEMA_FREQUENT_PER are kept.',
    from: 200,
    to: 100_000,
  }),
  schemaValuesTotal: number('MILLRACE_SCHEMA_VALUES_TOTAL', 100_000, {
    purpose: 'Counters for the values of a version.',
    from: 1_000,
    to: 10_000_000,
  }),
  schemaCacheBytes: number('MILLRACE_SCHEMA_CACHE_MB', 64, {
    purpose: 'Memory of the schema catalog, in MB; the rest is on disk only.',
    from: 1,
    to: 65_536,
    factor: MB,
  }),
  schemaSamples: number('MILLRACE_SCHEMA_SAMPLES', 5, {
    purpose: 'Sampled events of each model and version.',
    from: 0,
    to: 100,
    zero: 'none',
  }),
  schemaCapturesUnknowns: trueOrFalse(
    'MILLRACE_SCHEMA_CAPTURE_UNKNOWNS',
    'false',
    'Whether null gives a key, of the type unknown.',
  ),
}
