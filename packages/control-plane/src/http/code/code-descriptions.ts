import {
  closed,
  type ErrorTexts,
  enveloped,
  type RouteDescription,
  refusals,
  type TObject,
  type TSchema,
  Type,
} from '@millrace/openapi'
import { VERSION_LISTED, VERSION_SHOWN } from '../../transformations/transformation-schema.ts'
import { CHANGED, pathParameters, requestHeaders, sharedDescriptions } from '../resources/resource-descriptions.ts'

/** The texts in which the descriptions of transformations and libraries differ. */
export interface CodeInWords {
  readonly tag: string
  /** `transformation` */
  readonly name: string
  readonly plural: string
  /** The name in error texts. */
  readonly title: string
  readonly written: TObject
  readonly shown: TSchema
  readonly writtenExample: object
  readonly shownExample: object
  /** The effect of publishing. */
  readonly publishing: string
  /** Errors of writes, in addition to those of code. */
  readonly errors: ErrorTexts
  /** Errors of DELETE. */
  readonly removeErrors: ErrorTexts
}

const NO_ID = '3dRIkg3yt5dHQvrpFIWbdCOITv7'
const VERSION_ID = '3OcjFpHW1yxUNp7EHCeq1H0gpPz'
const versionParameters = { ...pathParameters, versionId: Type.String() }
const PUBLISH = {
  publish: Type.Boolean({ default: false, description: 'Publishes the code; otherwise it is a draft.' }),
}

/** Errors of code, for every route that accepts code. */
export const CODE_ERRORS = [
  'Unsupported language python',
  ['SyntaxError: Unexpected token', { line: 3, column: 7 }],
  'import from stockRules failed. Module not found.',
] as const

const LINK_ERRORS: ErrorTexts = {
  400: ['import from stockRules failed. Module not found.'],
  413: ['Code size exceeds max limit'],
}

const version = {
  versionId: VERSION_ID,
  createdAt: '2026-03-02T11:00:00.000Z',
  createdBy: 'ada@cinema.example',
  published: true,
}

/** The descriptions of the eight routes for one kind of code. */
export function codeDescriptions(words: CodeInWords) {
  const { name, written, writtenExample } = words
  const { common, unknown, one, list, get } = sharedDescriptions(words, NO_ID)
  const writeErrors: ErrorTexts = {
    400: [
      'Invalid request. Missing name',
      'Invalid request. Missing code',
      'Invalid publish',
      'Unknown member: colour',
      ...CODE_ERRORS,
      ...(words.errors[400] ?? []),
    ],
    413: ['Code size exceeds max limit'],
    ...(words.errors[409] === undefined ? {} : { 409: words.errors[409] }),
  }
  const body = { schema: enveloped(name, written), example: writtenExample }
  return {
    list,
    create: {
      ...common,
      summary: `Make a ${name}`,
      query: PUBLISH,
      body,
      answers: { ...one, ...refusals(writeErrors) },
    },
    get,
    replace: {
      ...common,
      summary: `Replace a ${name}`,
      details: 'Changed code creates a new version. Omitted members get their defaults.',
      pathParameters,
      requestHeaders,
      query: PUBLISH,
      body,
      answers: { ...one, ...refusals({ ...writeErrors, ...unknown, ...CHANGED }) },
    },
    remove: {
      ...common,
      summary: `Remove a ${name}`,
      details: 'Its versions can still be read.',
      pathParameters,
      requestHeaders,
      answers: { 204: { text: 'Deleted.' }, ...refusals({ ...unknown, ...CHANGED, ...words.removeErrors }) },
    },
    versions: {
      ...common,
      summary: `List the versions of a ${name}`,
      details: 'The newest 1,000, in order of creation.',
      pathParameters,
      answers: {
        200: {
          text: 'The versions, without their code.',
          schema: closed({ versions: Type.Array(VERSION_LISTED) }),
          examples: { versions: { versions: [version] } },
        },
        ...refusals(unknown),
      },
    },
    version: {
      ...common,
      summary: `Show a version of a ${name}`,
      pathParameters: versionParameters,
      answers: {
        200: {
          text: 'The version.',
          schema: closed({ version: VERSION_SHOWN }),
          examples: {
            version: { version: { ...version, language: 'javascript', code: '', imports: [] } },
          },
        },
        ...refusals(unknown),
      },
    },
    publish: {
      ...common,
      summary: `Publish a version of a ${name}, also an older one`,
      details: words.publishing,
      pathParameters: versionParameters,
      requestHeaders,
      answers: { ...one, ...refusals({ ...unknown, ...CHANGED, ...LINK_ERRORS }) },
    },
  } satisfies Record<string, RouteDescription>
}
