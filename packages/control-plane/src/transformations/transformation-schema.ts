import { closed, Id, named, oneOf, readOnly, Time, Type } from '@millrace/openapi'
import { NAME, READ_ONLY_MEMBERS } from '../resources/written-fields.ts'
import { CODE_LANGUAGES } from './code.ts'
import { MAX_DESCRIPTION_LENGTH } from './written-code.ts'

const written = {
  ...readOnly([...READ_ONLY_MEMBERS, 'versionId', 'publishedVersionId', 'imports']),
  name: NAME,
  description: Type.Optional(Type.String({ maxLength: MAX_DESCRIPTION_LENGTH, default: '' })),
  language: Type.Optional(oneOf(CODE_LANGUAGES, { default: 'javascript' })),
  code: Type.String({ minLength: 1, description: 'At most 256 KB in UTF-8.' }),
}
const shown = {
  id: Id,
  versionId: Type.String({ description: 'Version of the shown code: the last saved one.' }),
  publishedVersionId: Type.Union([Id, Type.Null()], { description: 'The published version; null: none.' }),
  name: NAME,
  description: Type.String(),
  language: named('CodeLanguage', oneOf(CODE_LANGUAGES)),
  code: Type.String(),
  imports: Type.Array(Type.String(), { description: 'Import names of the libraries that the code imports.' }),
}
const common = { workspaceId: Id, createdAt: Time, updatedAt: Time }

/** Both the readers of code and the OpenAPI document use these. @see contracts/transformations.md §9 [D401] */
export const TRANSFORMATION_WRITTEN = named(
  'TransformationWritten',
  closed({
    ...written,
    ...readOnly(['destinations']),
    captureLogs: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to keep the last 1,000 lines logged by live runs.' }),
    ),
  }),
)

export const TRANSFORMATION_SHOWN = named(
  'Transformation',
  closed({
    ...shown,
    destinations: Type.Array(Id, { description: 'Ids of the destinations that it is attached to.' }),
    captureLogs: Type.Boolean(),
    ...common,
  }),
)

export const LIBRARY_WRITTEN = named('LibraryWritten', closed({ ...written, ...readOnly(['importName', 'usedBy']) }))

export const LIBRARY_SHOWN = named(
  'Library',
  closed({
    ...shown,
    importName: Type.String({ description: 'The name in camel case, for imports.' }),
    usedBy: Type.Array(Id, { description: 'Ids of the transformations that use it.' }),
    ...common,
  }),
)

const header = {
  versionId: Id,
  createdAt: Time,
  createdBy: Type.String({ description: 'E-mail of the user, or `millrace`.' }),
  published: Type.Boolean({ description: 'Whether it is the published version.' }),
}

export const VERSION_LISTED = named('CodeVersionHead', closed(header))

export const VERSION_SHOWN = named(
  'CodeVersion',
  closed({ ...header, language: shown.language, code: shown.code, imports: shown.imports }),
)
