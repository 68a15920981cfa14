import { closed, closedPartial, Id, named, oneOf, readOnly, Time, Type } from '@millrace/openapi'
import { CONSENT, CONSENT_WRITTEN } from './consent-schema.ts'
import { DEFAULT_DELIVERY } from './destination.ts'
import { NAME, RESOURCE_READ_ONLY_MEMBERS } from './written-fields.ts'

/** Both the readers of destinations and the OpenAPI document use these. @see contracts/control-plane.md §6 [D708] */
export const THROTTLE = closed({
  limit: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum attempts in a window; each event of a batch counts.',
  }),
  windowSeconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
})

export const DELIVERY = closed({
  concurrency: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: DEFAULT_DELIVERY.concurrency,
    description: 'Maximum concurrent requests.',
  }),
  ordering: oneOf(['strict', 'none'], {
    default: DEFAULT_DELIVERY.ordering,
    description: 'Whether events of one user keep their order.',
  }),
  throttle: Type.Union([Type.Null(), THROTTLE], { default: DEFAULT_DELIVERY.throttle }),
  onTransformationError: oneOf(['dead_letter', 'pass_through'], { default: DEFAULT_DELIVERY.onTransformationError }),
  keepAnswers: oneOf(['failed', 'all'], {
    default: DEFAULT_DELIVERY.keepAnswers,
    description: 'Attempts whose answers are stored in traces.',
  }),
})

export const MAX_TRANSFORMATIONS = 10

const TRANSFORMATION_IDS = Type.Array(Type.String(), {
  maxItems: MAX_TRANSFORMATIONS,
  default: [],
  description: 'Attached transformations in the order in which they run.',
})

const config = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Validated by the configSchema of the type. Secrets are shown as `********`; sending the mask keeps the saved value.',
})

export const DESTINATION_WRITTEN = named(
  'DestinationWritten',
  closed({
    ...readOnly(RESOURCE_READ_ONLY_MEMBERS),
    name: NAME,
    type: Type.String({ description: 'Name of a destination type, such as WEBHOOK. Cannot be changed.' }),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    config: Type.Optional(config),
    transformationIds: Type.Optional(TRANSFORMATION_IDS),
    delivery: Type.Optional(closedPartial(DELIVERY.properties)),
    consent: Type.Optional(
      Type.Union([CONSENT_WRITTEN, Type.Null({ description: 'Consent does not matter.' })], {
        description: 'The consent that an event must have to be sent.',
      }),
    ),
  }),
)

export const DESTINATION_SHOWN = named(
  'Destination',
  closed({
    id: Id,
    key: Type.String({ description: 'Key in configuration as code.' }),
    name: NAME,
    type: Type.String(),
    enabled: Type.Boolean(),
    config,
    transformationIds: TRANSFORMATION_IDS,
    // Shown only if it was set.
    delivery: named(
      'DeliverySettings',
      closed({ ...DELIVERY.properties, keepAnswers: Type.Optional(DELIVERY.properties.keepAnswers) }),
    ),
    // Shown only where it was chosen.
    consent: Type.Optional(CONSENT),
    workspaceId: Id,
    createdAt: Time,
    updatedAt: Time,
  }),
)
