export type { Static, TObject, TProperties, TSchema } from 'typebox'
export { ApiError, badRequest, notFound, refuseUnknownMembers } from './api-error.ts'
export { docsPage } from './docs-page.ts'
export { type About, openApiDocument } from './document.ts'
export { ERROR_STATUSES, type ErrorCode } from './error-codes.ts'
export {
  choice,
  cursorText,
  limitOf,
  MAX_LIMIT,
  nextPath,
  type Page,
  pageOf,
  type Query,
  rowBefore,
  rowCursor,
  text,
} from './query.ts'
export { type ErrorTexts, refusals } from './refusals.ts'
export { RouteBook } from './route-book.ts'
export type { Access, AnswerDescription, DescribedRoute, RouteDescription } from './route-description.ts'
export { closed, closedPartial, enveloped, Id, listOf, named, oneOf, Paging, readOnly, Time } from './schemas.ts'
export { Type } from './type.ts'
