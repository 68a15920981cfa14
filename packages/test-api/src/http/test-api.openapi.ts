import { type AnswerDescription, closed, Id, named, oneOf, type RouteDescription, Time, Type } from '@millrace/openapi'
import { REQUEST_OBJECT } from '@millrace/pipeline'
import { EXTRA_WORDS } from '../extras.ts'
import { MESSAGE_TYPES } from '../test-request.ts'
import { REFUSAL_TEXTS, STAGE_TEXTS } from '../texts.ts'
import { EXAMPLES } from './examples.openapi.ts'

type Answers = RouteDescription['answers']

const object = Type.Record(Type.String(), Type.Unknown())
const flag = Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description: 'Default (also null): false.' }))

const Message = Type.Object(
  { type: oneOf(MESSAGE_TYPES) },
  { additionalProperties: true, description: 'An event; it is used exactly as sent.' },
)
const Stage = closedExceptOthers({ user_transform: flag, dest_transform: flag, send_to_destination: flag })
const OVERRIDE = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), {
    description: 'Variables that replace the saved ones for this request; `********` stands for the saved value.',
  }),
)

/** Members that the Test API does not know are ignored. [D10] */
function closedExceptOthers(properties: Parameters<typeof Type.Object>[0]) {
  return Type.Object(properties, { additionalProperties: true })
}

const StageError = named('StageError', closed({ error: Type.String() }))

const StageResult = named(
  'StageResult',
  closed({
    user_transformed_payload: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'The event, or `{"error": text}`.' }),
    ),
    dest_transformed_payload: Type.Optional(Type.Union([Type.Array(REQUEST_OBJECT), StageError])),
    destination_response: Type.Optional(
      Type.Union([Type.Array(object), StageError], {
        description: 'JSON objects as they are, other bodies as `{"body": value}`.',
      }),
    ),
    destination_response_status: Type.Optional(Type.Array(Type.Integer())),
  }),
)

const Extras = named(
  'TestExtras',
  Type.Object({
    transformationVersionIds: Type.Optional(Type.Array(Type.String())),
    configHash: Type.Optional(Type.String()),
    serverVersion: Type.Optional(Type.String()),
    steps: Type.Optional(
      Type.Array(
        closed({
          transformationId: Type.String(),
          versionId: Type.String(),
          output: Type.Optional(Type.Array(object)),
          error: Type.Optional(Type.String()),
        }),
      ),
    ),
    userTransformedEvents: Type.Optional(Type.Array(object)),
    logs: Type.Optional(Type.Array(Type.String())),
    timings: Type.Optional(
      closed({
        userTransformMs: Type.Optional(Type.Number()),
        destTransformMs: Type.Optional(Type.Number()),
        requests: Type.Array(closed({ ms: Type.Number() })),
      }),
    ),
    filter: Type.Optional(
      closed({
        skipped: Type.Boolean(),
        reason: Type.Union([Type.String(), Type.Null()]),
        leftOutBy: Type.Optional(
          Type.Array(
            closed({
              connectionId: Id,
              sourceId: Id,
              reason: Type.String(),
              rule: Type.Optional(closed({ number: Type.Integer({ minimum: 1 }), text: Type.String() })),
            }),
            { description: 'Connections whose rules, or the consent of the destination, leave the message out.' },
          ),
        ),
      }),
    ),
    batch: Type.Optional(Type.Union([closed({ maxEvents: Type.Integer({ minimum: 1 }) }), Type.Null()])),
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
)

const DestinationResult = named(
  'DestinationResult',
  Type.Union([
    closed({
      destinationId: Id,
      destination: Type.String(),
      destinationName: Type.String(),
      data: Type.Array(StageResult),
      extras: Type.Optional(Extras),
    }),
    closed({ destinationId: Id, destinationName: Type.String(), error: Type.String() }),
  ]),
)

const texts = Type.Array(Type.String())

const ACTION = named(
  'MappingAction',
  closed({
    title: Type.String(),
    description: Type.String(),
    trigger: Type.Union([Type.Null(), Type.String()], { description: 'Trigger of a mapping without one.' }),
    fields: Type.Record(Type.String(), object),
    syncModes: Type.Optional(texts),
    defaultSyncMode: Type.Optional(Type.String()),
    maxBatch: Type.Optional(Type.Integer({ minimum: 1, description: 'Maximum events of one run.' })),
  }),
)
const textsByName = Type.Record(Type.String(), texts)
const KINDS = ['cloud', 'stream', 'object-storage', 'key-value', 'spreadsheet', 'warehouse-stream'] as const
const definition = {
  id: Type.String(),
  name: Type.String({ description: 'Such as `WEBHOOK`.' }),
  displayName: Type.String(),
  category: Type.String(),
  kind: oneOf(KINDS),
  defaultConfig: Type.Array(Type.String(), { description: 'Names allowed in `destinationConfig`.' }),
}
const definitionConfig = {
  destConfig: closed({ defaultConfig: texts }),
  secretKeys: Type.Array(Type.String(), { description: 'Paths of variables that hold secrets.' }),
  supportedMessageTypes: textsByName,
  supportedConnectionModes: textsByName,
  supportedSourceTypes: texts,
}
const DefinitionHead = named('DestinationDefinitionHead', closed({ ...definition, config: closed(definitionConfig) }))
const Definition = named(
  'DestinationDefinition',
  closed({
    ...definition,
    config: closed({
      ...definitionConfig,
      extraConfig: texts,
      commonConfig: texts,
      hostKeys: Type.Array(Type.String(), { description: 'Paths of variables that decide the host of requests.' }),
      trustedHostKeys: Type.Array(Type.String(), {
        description: 'Variables that list further hosts that may receive secrets.',
      }),
      publicKeys: Type.Array(Type.String(), { description: 'Variables that a client library may see.' }),
    }),
    configSchema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema draft-07 of a config.' }),
    uiConfig: closed({
      help: Type.Optional(Type.String()),
      fields: Type.Optional(
        Type.Array(
          named(
            'UiField',
            closed({
              key: Type.String(),
              label: Type.String(),
              help: Type.Optional(Type.String()),
              format: Type.Optional(Type.String()),
              choices: Type.Optional(Type.Array(closed({ label: Type.String(), value: Type.Unknown() }))),
            }),
          ),
        ),
      ),
      authorization: Type.Optional(
        closed({
          variable: Type.String({ description: 'The variable that keeps the refresh token.' }),
          where: Type.Optional(
            Type.Record(Type.String(), Type.Unknown(), { description: 'Values of variables that use the token.' }),
          ),
        }),
      ),
      heading: Type.Optional(Type.String({ description: 'Heading above texts that are not ours.' })),
      actions: Type.Optional(
        Type.Record(Type.String(), ACTION, {
          description: 'Of a type of the destination catalog, only where one type is asked for: what mappings can do.',
        }),
      ),
      presets: Type.Optional(
        Type.Array(
          named('MappingPreset', closed({ name: Type.String(), action: Type.String(), trigger: Type.String() })),
        ),
      ),
    }),
    options: object,
    createdAt: Time,
    updatedAt: Time,
  }),
)

const count = Type.String({ pattern: '^\\d+$' })
const MessageAnswer = named('Message', closed({ message: Type.String() }))

function refusals(byStatus: Readonly<Record<number, readonly string[]>>): Record<number, AnswerDescription> {
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, texts]) => [
      status,
      {
        text: texts.map((text) => `\`${text}\``).join(', '),
        schema: MessageAnswer,
        examples: Object.fromEntries(texts.map((message) => [message, { message }])),
        ...(status === '429'
          ? { headers: { 'Retry-After': count, 'RateLimit-Limit': count, 'RateLimit-Remaining': count } }
          : {}),
      },
    ]),
  )
}

const ADMITTED = { 401: [REFUSAL_TEXTS.unauthorized], 429: [REFUSAL_TEXTS.rateLimited] }
const id = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const BAD_BODY = [
  REFUSAL_TEXTS.invalidJson,
  REFUSAL_TEXTS.typeMissing,
  REFUSAL_TEXTS.typeUnsupported,
  REFUSAL_TEXTS.stageMissing,
  REFUSAL_TEXTS.flagNoBoolean('send_to_destination'),
]
const TESTED = {
  ...ADMITTED,
  403: [REFUSAL_TEXTS.forbidden],
  413: [REFUSAL_TEXTS.tooLarge],
  415: [REFUSAL_TEXTS.unsupportedEncoding],
  503: [REFUSAL_TEXTS.unavailable],
}

const QUERY = {
  force: Type.String({ description: '`true`: also test disabled destinations.' }),
  include: Type.String({ description: `A comma list of ${[...EXTRA_WORDS].join(', ')}: adds the member \`extras\`.` }),
  reveal: Type.String({ description: '`none`: also mask secrets that the request supplies.' }),
}

const DETAILS = `Stages run in the order user_transform, dest_transform, send_to_destination, each only when its flag is \
true; a stage that fails aborts the later ones (\`${STAGE_TEXTS.abortedByUserTransformation}\`, \
\`${STAGE_TEXTS.abortedByDestTransformation}\`). They are those of live traffic; nothing is stored, counted or retried. \
Credentials are an e-mail address and a personal access token as HTTP Basic. A viewer may neither send nor override.`

const answers = (success: AnswerDescription, refused: Readonly<Record<number, readonly string[]>>): Answers => ({
  200: success,
  ...refusals(refused),
})

export const IN_WORDS: Readonly<
  Record<'testDestination' | 'testSource' | 'definitions' | 'definition', RouteDescription>
> = {
  testDestination: {
    tag: 'Test API',
    summary: 'Test a message on a destination',
    details: DETAILS,
    access: 'token',
    pathParameters: { id: Type.String({ description: 'Id of the destination.' }) },
    query: QUERY,
    body: {
      schema: closedExceptOthers({ stage: Type.Optional(Stage), message: Message, destinationConfig: OVERRIDE }),
      example: EXAMPLES.destinationRequest,
    },
    answers: answers(
      { text: 'The result, also if a stage failed.', schema: DestinationResult, examples: EXAMPLES.destination },
      { ...TESTED, 400: [...BAD_BODY, REFUSAL_TEXTS.overrideNoObject], 404: [REFUSAL_TEXTS.destinationNotFound(id)] },
    ),
  },
  testSource: {
    tag: 'Test API',
    summary: 'Test a message on every connected destination of a source',
    details: DETAILS,
    access: 'token',
    pathParameters: { id: Type.String({ description: 'Id of the source.' }) },
    query: QUERY,
    body: {
      schema: closedExceptOthers({ stage: Type.Optional(Stage), message: Message }),
      example: EXAMPLES.sourceRequest,
    },
    answers: answers(
      {
        text: 'A result for each connected destination, in the order of the connections.',
        schema: Type.Array(DestinationResult),
        examples: EXAMPLES.source,
      },
      {
        ...TESTED,
        400: [
          ...BAD_BODY,
          REFUSAL_TEXTS.overrideUnsupported,
          REFUSAL_TEXTS.sourceDisabled(id),
          REFUSAL_TEXTS.sourceUnconnected(id),
        ],
        404: [REFUSAL_TEXTS.sourceNotFound(id)],
      },
    ),
  },
  definitions: {
    tag: 'Test API',
    summary: 'List destination types with the names of their variables',
    details: 'With MILLRACE_OPEN_DEFINITIONS, no credentials are needed.',
    access: 'token',
    query: { include: Type.String({ description: '`schema`: adds the configuration schema.' }) },
    answers: answers(
      {
        text: 'All destination types.',
        schema: Type.Union([Type.Array(DefinitionHead), Type.Array(Definition)]),
        examples: { definitions: [EXAMPLES.definition] },
      },
      ADMITTED,
    ),
  },
  definition: {
    tag: 'Test API',
    summary: 'Show a destination type with its schema',
    access: 'token',
    pathParameters: { name: Type.String({ description: 'Such as `WEBHOOK`.' }) },
    answers: answers(
      {
        text: 'The definition.',
        schema: Definition,
        examples: { definition: EXAMPLES.definitionWithSchema },
      },
      { ...ADMITTED, 404: [REFUSAL_TEXTS.definitionNotFound('NAME')] },
    ),
  },
}
