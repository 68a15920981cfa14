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

/** The texts in which the descriptions of resource kinds differ. */
export interface ResourceInWords {
  readonly tag: string
  /** `source` */
  readonly name: string
  /** `sources` */
  readonly plural: string
  /** The name in error texts: `Source`. */
  readonly title: string
  readonly written: TObject
  readonly shown: TSchema
  /** Required members of a PUT. */
  readonly neededInPut: readonly string[]
  readonly writtenExample: object
  readonly shownExample: object
  /** Errors of writes. */
  readonly errors: ErrorTexts
  /** Errors of DELETE. */
  readonly removeErrors: ErrorTexts
  readonly mayWarn?: boolean
}

const NO_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
export const pathParameters = { id: Type.String() }
export const requestHeaders = {
  'If-Match': Type.String({
    description: 'The ETag of the expected state; if the resource has another one, the answer is 412.',
  }),
}
const ETAG = { ETag: Type.String({ description: 'ETag of the resource.' }) }
export const CHANGED: ErrorTexts = { 412: ['Resource has changed'] }

/** Query of a list. */
export const PAGE_QUERY = {
  q: Type.String({ description: 'Part of the name, key, e-mail address or id, case-insensitive.' }),
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: 100, description: 'Resources per page.' }),
}
const PAGE_ERRORS: ErrorTexts = { 400: ['Invalid page', 'Invalid limit', 'Invalid q'] }

/** Answers of a list. @param member holds the page. @param what the items, if the member does not name them. */
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

type SharedWords = Pick<ResourceInWords, 'tag' | 'name' | 'plural' | 'title' | 'shown' | 'shownExample'>

/**
 * What the descriptions of resources and of code have in common.
 *
 * @param noId an id that the errors name.
 */
export function sharedDescriptions({ tag, name, plural, title, shown, shownExample }: SharedWords, noId: string) {
  const common = { tag, access: 'token' } as const
  const unknown: ErrorTexts = { 404: [`${title} with id ${noId} not found`] }
  const one: RouteDescription['answers'] = {
    200: {
      text: `The ${name}.`,
      schema: closed({ [name]: shown }),
      examples: { [name]: { [name]: shownExample } },
      headers: ETAG,
    },
  }
  const list = {
    ...common,
    summary: `List the ${plural}`,
    details: 'In order of creation.',
    query: PAGE_QUERY,
    answers: pageAnswers(plural, shown, shownExample),
  }
  const get = { ...common, summary: `Show a ${name}`, pathParameters, answers: { ...one, ...refusals(unknown) } }
  return { common, unknown, one, list, get }
}

/** The descriptions of the six routes for one kind of resource. */
export function resourceDescriptions(words: ResourceInWords) {
  const { name, written, writtenExample } = words
  const { common, unknown, one, list, get } = sharedDescriptions(words, NO_ID)
  const writtenOne: RouteDescription['answers'] = words.mayWarn
    ? { 200: { ...one[200]!, headers: { ...ETAG, ...WARNING } } }
    : one
  const rewrite = { ...common, pathParameters, requestHeaders }
  const rewriteErrors = refusals({ ...words.errors, ...unknown, ...CHANGED })
  return {
    list,
    create: {
      ...common,
      summary: `Make a ${name}`,
      body: { schema: enveloped(name, written), example: writtenExample },
      answers: { ...writtenOne, ...refusals(words.errors) },
    },
    get,
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

/** The same members, but only some are required. */
function needing(schema: TObject, needed: readonly string[]): TSchema {
  // A changed schema needs another name, or none.
  const { required: _, $id: __, ...rest }: TObject & { readonly $id?: string } = schema
  return (needed.length === 0 ? rest : { ...rest, required: needed }) as TSchema
}
