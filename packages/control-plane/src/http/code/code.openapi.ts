import { closed, Id, named, oneOf, type RouteDescription, refusals, Time, Type } from '@millrace/openapi'
import { CODE_LANGUAGES } from '../../transformations/code.ts'
import { MAX_TEST_EVENTS, STORED_TEST } from '../../transformations/stored-tests.ts'
import {
  LIBRARY_SHOWN,
  LIBRARY_WRITTEN,
  TRANSFORMATION_SHOWN,
  TRANSFORMATION_WRITTEN,
} from '../../transformations/transformation-schema.ts'
import { PAGE_QUERY, pageAnswers } from '../resources/resource-descriptions.ts'
import { CODE_ERRORS, type CodeInWords } from './code-descriptions.ts'

const TRANSFORMATION_ID = '3dRIkg3yt5dHQvrpFIWbdCOITv7'
const VERSION_ID = '3OcjFpHW1yxUNp7EHCeq1H0gpPz'
const LIBRARY_ID = '3f0d5tmVzXqBcS6N1oWgR8LkQyA'
const times = { createdAt: '2026-03-02T11:00:00.000Z', updatedAt: '2026-03-02T11:00:00.000Z' }
const workspaceId = '3BVLaUj9fmVMZzVa62w8CIJjwOt'

const transformation = {
  name: 'Add cents',
  description: 'price in cents for the booking hook',
  language: 'javascript',
  code: 'import { toCents } from "priceRules";\nexport function transformEvent(event) {\n  event.properties.priceCents = toCents(event.properties.price);\n  return event;\n}\n',
}
const library = {
  name: 'Price Rules',
  description: '',
  language: 'javascript',
  code: 'export const toCents = (price) => Math.round(price * 100);\n',
}

export const TRANSFORMATIONS_IN_WORDS: CodeInWords = {
  tag: 'Transformations',
  name: 'transformation',
  plural: 'transformations',
  title: 'Transformation',
  written: TRANSFORMATION_WRITTEN,
  shown: TRANSFORMATION_SHOWN,
  writtenExample: transformation,
  shownExample: {
    id: TRANSFORMATION_ID,
    versionId: VERSION_ID,
    publishedVersionId: VERSION_ID,
    ...transformation,
    imports: ['priceRules'],
    destinations: [],
    captureLogs: false,
    workspaceId,
    ...times,
  },
  publishing:
    'Takes effect with the next event. A version that was never published pins the currently published libraries. The published version, ' +
    'published again, uses the current libraries, as a new version if they have changed. An older version keeps the libraries it had.',
  errors: { 400: ['Expected one of transformEvent,transformBatch. Found ', 'captureLogs must be a boolean'] },
  removeErrors: { 409: [['Transformation is attached', { destinationIds: ['3uLMicKvWtFGwbwBkUIwtP0l8lu'] }]] },
}

export const LIBRARIES_IN_WORDS: CodeInWords = {
  tag: 'Transformations',
  name: 'library',
  plural: 'libraries',
  title: 'Library',
  written: LIBRARY_WRITTEN,
  shown: LIBRARY_SHOWN,
  writtenExample: library,
  shownExample: {
    id: LIBRARY_ID,
    versionId: VERSION_ID,
    publishedVersionId: VERSION_ID,
    ...library,
    importName: 'priceRules',
    imports: [],
    usedBy: [TRANSFORMATION_ID],
    workspaceId,
    ...times,
  },
  publishing: 'Published transformations keep their library versions until they are published again.',
  errors: {
    400: [
      'name must have a letter or a digit',
      'libraries import each other in a cycle: priceRules → rounding → priceRules',
    ],
    409: [['name is already in use', { importName: 'priceRules' }], 'Library is in use'],
  },
  removeErrors: { 409: [['Library is in use', { transformationIds: [TRANSFORMATION_ID], libraryIds: [] }]] },
}

const event = { type: 'track', messageId: 'm-1', event: 'Seats Held', properties: { hall: 'B' } }
const Event = Type.Record(Type.String(), Type.Unknown())
const codeToTest = {
  language: Type.Optional(oneOf(CODE_LANGUAGES, { default: 'javascript' })),
  code: Type.Optional(Type.String()),
  versionId: Type.Optional(Type.String({ description: 'Default: the newest version.' })),
  libraryVersionIDs: Type.Optional(
    Type.Array(Type.String(), {
      default: [],
      description: 'Used instead of the published versions of these libraries.',
    }),
  ),
}
const Input = Type.Integer({ minimum: 0, description: 'Index of the input event.' })
const versionErrors = ['versionId must be a text', 'libraryVersionIDs must be a list of ids']

export const TEST_IN_WORDS: RouteDescription = {
  tag: 'Transformations',
  summary: 'Run code on events, without saving or sending anything',
  details:
    'Instead of code, give a transformation and one of its versions. transformBatch gets all events as one batch. ' +
    'Time limit: 60 s.',
  access: 'token',
  body: {
    schema: named(
      'TransformationRunWritten',
      closed({
        ...codeToTest,
        transformationId: Type.Optional(Type.String()),
        events: Type.Array(Event, { minItems: 1, maxItems: MAX_TEST_EVENTS }),
        metadata: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: 'Further members of metadata(event), such as sourceName.',
          }),
        ),
      }),
    ),
    example: {
      language: 'typescript',
      code: 'export function transformEvent(event: any) {\n  log("hall", event.properties.hall);\n  return event;\n}\n',
      events: [event],
    },
  },
  answers: {
    200: {
      text: 'One element per resulting event, error or drop, in the order of the input.',
      schema: named(
        'TransformationRun',
        closed({
          transformedEvents: Type.Array(
            named(
              'TransformedEvent',
              Type.Union([
                closed({ input: Input, event: Event }),
                closed({ input: Input, dropped: Type.Literal(true) }),
                closed({ input: Input, error: Type.String() }),
              ]),
            ),
          ),
          logs: Type.Array(Type.String()),
        }),
      ),
      examples: {
        run: {
          transformedEvents: [
            { input: 0, event },
            { input: 1, dropped: true },
            { input: 2, error: 'TypeError: nothing\n    at transformEvent (base transformation:2:3)' },
          ],
          logs: ['Log: hall B'],
        },
      },
    },
    ...refusals({
      400: [
        'Invalid Request. Missing parameters in transformation code block',
        'Invalid request. Missing events',
        'Too many events',
        'metadata must be an object',
        ...versionErrors,
        ...CODE_ERRORS,
      ],
      404: [`Transformation with id ${TRANSFORMATION_ID} not found`, `Library with id ${VERSION_ID} not found`],
      413: ['Code size exceeds max limit'],
    }),
  },
}

const test = { id: 't1', name: 'cents are added', input: [event], expectedOutput: [event] }
const Tests = closed({ tests: Type.Array(STORED_TEST) })
const testsAnswer: RouteDescription['answers'] = {
  200: {
    text: 'The stored tests.',
    schema: Tests,
    examples: { tests: { tests: [test] } },
    headers: { ETag: Type.String({ description: 'ETag of the transformation.' }) },
  },
}
const unknown = { 404: [`Transformation with id ${TRANSFORMATION_ID} not found`] }

export const STORED_TESTS_IN_WORDS: Record<'get' | 'put' | 'run', RouteDescription> = {
  get: {
    tag: 'Transformations',
    summary: 'Show the stored tests of a transformation',
    access: 'token',
    pathParameters: { id: Type.String() },
    answers: { ...testsAnswer, ...refusals(unknown) },
  },
  put: {
    tag: 'Transformations',
    summary: 'Replace the stored tests of a transformation',
    access: 'token',
    pathParameters: { id: Type.String() },
    requestHeaders: { 'If-Match': Type.String() },
    body: { schema: Tests, example: { tests: [test] } },
    answers: {
      ...testsAnswer,
      ...refusals({
        ...unknown,
        400: ['tests must be a list', 'Too many tests', 'id is required', 'Test with id t1 is listed twice'],
        412: ['Resource has changed'],
      }),
    },
  },
  run: {
    tag: 'Transformations',
    summary: 'Run the stored tests of a transformation',
    details: 'On its newest version, another version, or code in the request. Time limit: 60 s.',
    access: 'token',
    pathParameters: { id: Type.String() },
    body: { schema: closed(codeToTest), example: { versionId: VERSION_ID }, isOptional: true },
    answers: {
      200: {
        text: 'The results. The order of members does not matter.',
        schema: named(
          'TransformationTestsRun',
          closed({
            pass: Type.Boolean(),
            results: Type.Array(
              closed({
                id: Type.String(),
                name: Type.String(),
                status: oneOf(['pass', 'fail', 'error']),
                actualOutput: Type.Array(Event),
                errors: Type.Array(Type.String()),
              }),
            ),
          }),
        ),
        examples: {
          run: {
            pass: true,
            results: [{ id: 't1', name: 'cents are added', status: 'pass', actualOutput: [event], errors: [] }],
          },
        },
      },
      ...refusals({ ...unknown, 400: [...versionErrors, ...CODE_ERRORS], 413: ['Code size exceeds max limit'] }),
    },
  },
}

export const LOGS_IN_WORDS: RouteDescription = {
  tag: 'Transformations',
  summary: 'Show the live logs of a transformation',
  details:
    'The last 1,000 lines since the start of the server, newest first; lines are kept while `captureLogs` is on.',
  access: 'token',
  pathParameters: { id: Type.String() },
  answers: {
    200: {
      text: 'The lines.',
      schema: closed({
        logs: Type.Array(
          named(
            'TransformationLog',
            closed({
              at: Time,
              destinationId: Id,
              messageId: Type.Union([Type.String(), Type.Null()]),
              line: Type.String(),
            }),
          ),
        ),
      }),
      examples: {
        logs: {
          logs: [
            {
              at: '2026-03-04T09:15:32.010Z',
              destinationId: '3uLMicKvWtFGwbwBkUIwtP0l8lu',
              messageId: 'm-88',
              line: 'Log: hall B',
            },
          ],
        },
      },
    },
    ...refusals(unknown),
  },
}

const Template = named(
  'TransformationTemplate',
  closed({
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    language: oneOf(CODE_LANGUAGES),
    code: Type.String(),
  }),
)

export const TEMPLATES_IN_WORDS: RouteDescription = {
  tag: 'Transformations',
  summary: 'List templates for transformations',
  access: 'token',
  query: PAGE_QUERY,
  answers: pageAnswers(
    'transformationTemplates',
    Template,
    { id: 'mask-personal-data', name: 'Mask personal data', description: '', language: 'javascript', code: '' },
    'templates',
  ),
}
