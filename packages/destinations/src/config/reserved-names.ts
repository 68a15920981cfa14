import type { DestinationKind } from '../definition.ts'

/**
 * Names that belong to types which the server delivers itself, in other ways than by HTTP requests. None is built yet; the
 * name of each is kept for its kind.
 *
 * @see contracts/destinations.md §6 [D519]
 */
const RESERVED: Record<Exclude<DestinationKind, 'cloud'>, readonly string[]> = {
  stream: [
    'KAFKA',
    'CONFLUENT_CLOUD',
    'AZURE_EVENT_HUB',
    'KINESIS',
    'FIREHOSE',
    'EVENTBRIDGE',
    'PERSONALIZE',
    'GOOGLEPUBSUB',
  ],
  'object-storage': ['S3', 'GCS', 'AZURE_BLOB', 'MINIO', 'DIGITAL_OCEAN_SPACES'],
  'key-value': ['REDIS'],
  spreadsheet: ['GOOGLESHEETS'],
  'warehouse-stream': ['BQSTREAM'],
}

const KIND_OF_NAME = new Map(
  Object.entries(RESERVED).flatMap(([kind, names]) => names.map((name) => [name, kind as DestinationKind])),
)

/** The kind that a type of this name must be of; undefined for a name that is free. */
export function reservedKind(name: string): DestinationKind | undefined {
  return KIND_OF_NAME.get(name)
}
