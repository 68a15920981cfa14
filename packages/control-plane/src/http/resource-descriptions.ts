import {
  closed,
  type ErrorTexts,
  enveloped,
  listOf,
  MAX_LIMIT,
  type RouteDescription,
  refusals,
  type TObject,
  type TSchema,
  Type,
} from '@millrace/openapi'

/** What the descriptions of one kind of resource differ in. */
export interface ResourceInWords {
  readonly tag: string
  /** `source` */
  readonly name: string
  /** `sources` */
  readonly plural: string
  /** As errors name it: `Source`. */
  readonly title: string
  readonly written: TObject
  readonly shown: TSchema
  /** Members that a PUT has to have. */
  readonly neededInPut: readonly string[]
  readonly writtenExample: object
  readonly shownExample: object
  /** Of writes. */
  readonly errors: ErrorTexts
  /** Of DELETE. */
  readonly removeErrors: ErrorTexts
  readonly mayWarn?: boolean
}

const NO_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const pathParameters = { id: Type.String() }
const conditional = {
  'If-Match': Type.String({
    description: 'The ETag of the expected state; if the resource has another one, the answer is 412.',
  }),
}
const ETAG = { ETag: Type.String({ description: 'ETag of the resource.' }) }
const CHANGED: ErrorTexts = { 412: ['Resource has changed'] }

/** Query of a list. */
export const PAGE_QUERY = {
  q: Type.String({ description: 'Part of the name, key, e-mail address or id, case-insensitive.' }),
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: 100, description: 'Resources per page.' }),
}
const PAGE_ERRORS: ErrorTexts = { 400: ['Invalid page', 'Invalid limit', 'Invalid q'] }

/** Answers of a list. @param member holds the page. @param what is in it, if the member does not say so. */
export function pageAnswers(member: string, shown: TSchema, example: object, what = member) {
  return {
    200: {
      text: `A page of ${what}.`,
      schema: listOf(member, shown),
      examples: { page: { [member]: [example], paging: { total: 1, next: '' } } },
    },
    ...refusals(PAGE_ERRORS),
  }
}

/** The six routes of a kind of resource, in words. */
export function resourceDescriptions(words: ResourceInWords) {
  const { tag, name, plural, title, written, writtenExample, shownExample } = words
  const unknown: ErrorTexts = { 404: [`${title} with id ${NO_ID} not found`] }
  const example = { [name]: shownExample }
  const one: RouteDescription['answers'] = {
    200: {
      text: `The ${name}.`,
      schema: closed({ [name]: words.shown }),
      examples: { [name]: example },
      headers: ETAG,
    },
  }
  const writtenOne: RouteDescription['answers'] = words.mayWarn
    ? { 200: { ...one[200]!, headers: { ...ETAG, ...WARNING } } }
    : one
  const common = { tag, access: 'token' } as const
  const rewrite = { ...common, pathParameters, requestHeaders: conditional }
  const rewriteErrors = refusals({ ...words.errors, ...unknown, ...CHANGED })
  return {
    list: {
      ...common,
      summary: `List the ${plural}`,
      details: 'In order of creation.',
      query: PAGE_QUERY,
      answers: pageAnswers(plural, words.shown, shownExample),
    },
    create: {
      ...common,
      summary: `Make a ${name}`,
      body: { schema: enveloped(name, written), example: writtenExample },
      answers: { ...writtenOne, ...refusals(words.errors) },
    },
    get: {
      ...common,
      summary: `Show a ${name}`,
      pathParameters,
      answers: { ...one, ...refusals(unknown) },
    },
    replace: {
      ...rewrite,
      summary: `Replace a ${name}`,
      details: 'Omitted members get their defaults.',
      body: { schema: enveloped(name, needing(written, words.neededInPut)), example: writtenExample },
      answers: { ...writtenOne, ...rewriteErrors },
    },
    update: {
      ...rewrite,
      summary: `Change members of a ${name}`,
      details: 'Omitted members do not change.',
      body: { schema: enveloped(name, needing(written, [])), example: { enabled: false } },
      answers: { ...writtenOne, ...rewriteErrors },
    },
    remove: {
      ...rewrite,
      summary: `Remove a ${name}`,
      query: {
        ...(name === 'connection'
          ? {}
          : { cascade: Type.Boolean({ default: false, description: 'Also removes its connections.' }) }),
        discard: Type.Boolean({ default: false, description: 'Ends waiting events as discarded.' }),
      },
      answers: {
        204: { text: 'Deleted.' },
        ...refusals({ ...unknown, ...CHANGED, ...words.removeErrors }),
      },
    },
  } satisfies Record<string, RouteDescription>
}

const WARNING = {
  'X-Millrace-Warning': Type.String({ description: 'Says that saved secrets were removed because the host changed.' }),
}

/** The same members, of which only some have to be there. */
function needing(schema: TObject, needed: readonly string[]): TSchema {
  // Another schema needs another name, or none.
  const { required: _, $id: __, ...rest }: TObject & { readonly $id?: string } = schema
  return (needed.length === 0 ? rest : { ...rest, required: needed }) as TSchema
}
