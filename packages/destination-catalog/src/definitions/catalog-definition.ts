import { createHash } from 'node:crypto'
import type { JsonObject } from '@millrace/protocol'
import { ALLOWED } from '../allow-list.ts'
import { hasLabels } from '../requests/labels.ts'
import { ADDRESS_FIELDS, HOST_FIELDS, SECRET_ADDRESS_SLUGS } from './address-fields.ts'
import { typeNameOf } from './entries.ts'
import { type Entry, type EntryField, PACKAGE_VERSION } from './entry.ts'
import { fieldSchema } from './field-schema.ts'
import { mappingSchema } from './mapping-schema.ts'

const COMMON_CONFIG = ['connectionMode', 'eventFilteringOption', 'whitelistedEvents', 'blacklistedEvents']
const MESSAGE_TYPES = ['identify', 'track', 'page', 'screen', 'group', 'alias']
const GENERATED_AT = '2026-11-24T08:00:00.000Z'
const ID_CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The definition of a listed entry, in the form of every destination type.
 *
 * @see contracts/destination-catalog.md §7.1
 */
export function catalogDefinition(entry: Entry) {
  const { slug, originalName, fields } = entry
  const { displayName, needsMapping, multiStep, experimental, supersededBy } = ALLOWED[slug]!
  const defaultConfig = [...Object.keys(fields), 'subscriptions', ...(hasLabels(slug) ? ['vendorLabels'] : [])]
  return {
    id: idOf(slug),
    name: typeNameOf(slug),
    displayName,
    category: 'catalog',
    kind: 'cloud' as const,
    defaultConfig,
    config: {
      destConfig: { defaultConfig },
      extraConfig: [],
      commonConfig: COMMON_CONFIG,
      secretKeys: [
        ...Object.keys(fields).filter((name) => isSecret(name, fields[name]!)),
        ...(SECRET_ADDRESS_SLUGS.has(slug) ? addressKeys(slug) : []),
      ],
      hostKeys: [...Object.keys(fields).filter((name) => decidesHost(slug, name, fields[name]!)), ...addressKeys(slug)],
      publicKeys: COMMON_CONFIG,
      supportedMessageTypes: { cloud: MESSAGE_TYPES },
      supportedConnectionModes: { cordova: ['cloud'], web: ['cloud'], cloud: ['cloud'] },
      supportedSourceTypes: ['cordova', 'web', 'cloud'],
    },
    configSchema: configSchema(entry),
    uiConfig: uiConfig(entry),
    options: {
      catalog: true,
      slug,
      class: 'A',
      needsMapping: needsMapping === true,
      multiStep: multiStep === true,
      experimental: experimental === true,
      acknowledge: false,
      supersededBy: supersededBy ?? null,
      aliases: originalName === displayName ? [] : [originalName],
      canTest: entry.canTest,
      isForAudiences: entry.isForAudiences,
      description: entry.description,
      provenance: `Community catalog. Definition from @segment/action-destinations ${PACKAGE_VERSION} (MIT), run unmodified; not affiliated with or endorsed by its publisher or by ${displayName.replace(' (community)', '')}.`,
    },
    createdAt: GENERATED_AT,
    updatedAt: GENERATED_AT,
  }
}

export type CatalogDefinition = ReturnType<typeof catalogDefinition>

function configSchema({ slug, fields, actions }: Entry): JsonObject {
  const names = Object.keys(fields)
  return {
    type: 'object',
    required: names.filter((name) => fields[name]!.required === true && fields[name]!.default === undefined),
    properties: {
      ...Object.fromEntries(names.map((name) => [name, fieldSchema(fields[name]!)])),
      subscriptions: { type: 'array', maxItems: 50, items: mappingSchema(actions) },
      ...(hasLabels(slug)
        ? { vendorLabels: { type: 'string', enum: ['neutral', 'asShipped'], default: 'neutral' } }
        : {}),
    },
  }
}

function uiConfig({ slug, fields }: Entry): JsonObject {
  const { help: note } = ALLOWED[slug]!
  return {
    heading: 'Text of the definition',
    ...(note === undefined ? {} : { help: note }),
    fields: [
      ...Object.entries(fields).map(
        ([key, { label, help, choices, format }]): JsonObject => ({
          key,
          label: label === '' ? key : label,
          ...(help === '' ? {} : { help }),
          ...(choices === undefined ? {} : { choices: choices.map((choice) => ({ ...choice })) }),
          ...(format === undefined ? {} : { format }),
        }),
      ),
      {
        key: 'subscriptions',
        label: 'Mappings',
        help: 'Which events are sent, and as what. Empty: the mappings of the definition.',
      },
      ...(hasLabels(slug)
        ? [
            {
              key: 'vendorLabels',
              label: 'Source named to the vendor',
              help: 'neutral: Millrace. asShipped: the name that the definition was written with.',
            },
          ]
        : []),
    ],
  }
}

/** @see contracts/destination-catalog.md §7.2 [C35] */
function isSecret(name: string, { type, format }: EntryField): boolean {
  return type === 'password' || format === 'password' || /(key|token|secret|password)$/i.test(name)
}

const HOST_WORDS = /url|uri|host|domain|endpoint|region|instance|stack|pod|datacenter|data_center|server/i

/** @see contracts/destination-catalog.md §7.2 [C37] */
function decidesHost(slug: string, name: string, field: EntryField): boolean {
  if (field.format === 'uri' || field.format === 'hostname' || HOST_FIELDS[slug]?.includes(name)) return true
  return (field.type === 'string' || field.type === 'text') && !isSecret(name, field) && HOST_WORDS.test(name)
}

/** Paths of the addresses in mappings, as `secretKeys` and `hostKeys` name places in lists. */
function addressKeys(slug: string): string[] {
  const fields = new Set(Object.values(ADDRESS_FIELDS[slug] ?? {}))
  return [...fields].map((field) => `subscriptions.*.mapping.${field}`)
}

/** 27 characters, fixed for ever. */
function idOf(slug: string): string {
  let rest = BigInt(`0x${createHash('sha256').update(slug).digest('hex')}`)
  let id = ''
  while (id.length < 27) {
    id += ID_CHARACTERS[Number(rest % 62n)]
    rest /= 62n
  }
  return id
}
