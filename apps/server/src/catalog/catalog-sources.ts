import type { Snapshot } from '@millrace/control-plane'
import type { CatalogLimits, CatalogSource } from '@millrace/schema-catalog'
import type { Settings } from '../config/settings.ts'

/** The sources of a snapshot, in the form of the catalog. */
export function catalogSources({ sources }: Snapshot): CatalogSource[] {
  return [...sources.values()].map(({ id, writeKey, config }) => ({
    id,
    writeKey,
    samples: config.catalog.samples,
    hasValues: config.catalog.values === 'on',
  }))
}

export function catalogLimits(settings: Settings): CatalogLimits {
  return {
    sourceBytes: settings.schemaSourceBytes,
    modelsPerSource: settings.schemaModels,
    versionsPerModel: settings.schemaVersions,
    keysPerEvent: settings.schemaKeysPerEvent,
    keysPerModel: settings.schemaKeysPerModel,
    arrayItems: settings.schemaArrayItems,
    frequentPer: settings.schemaFrequentPer,
    valuesPerKey: settings.schemaValuesPerKey,
    valuesPerVersion: settings.schemaValuesTotal,
    cacheBytes: settings.schemaCacheBytes,
    samples: settings.schemaSamples,
    capturesUnknowns: settings.schemaCapturesUnknowns,
  }
}
