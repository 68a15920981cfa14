import type { Kysely, Transaction } from 'kysely'
import type { CodeVersionMade } from '../change.ts'
import type { CodeVersion, TransformationCode } from '../transformations/code.ts'
import { type Library, libraryCode } from '../transformations/library.ts'
import type { Transformation } from '../transformations/transformation.ts'
import type { Tables } from './tables.ts'

/** Of a published transformation: the version, and the libraries that it pins. */
interface StoredPublication {
  readonly versionId: string
  readonly libraries: readonly { readonly importName: string; readonly versionId: string }[]
}

type TransformationDocument = Omit<Transformation, 'newest' | 'published'> & {
  readonly newestId: string
  readonly published: StoredPublication | null
}

type LibraryDocument = Omit<Library, 'newest' | 'published'> & {
  readonly newestId: string
  readonly publishedId: string | null
}

type VersionDocument = Pick<CodeVersion, 'language' | 'imports' | 'createdBy'>

export interface StoredCode {
  readonly transformations: readonly Transformation[]
  readonly libraries: readonly Library[]
}

/** Transformations and libraries with the versions that somebody edits or that run. */
export async function loadCode(db: Kysely<Tables>): Promise<StoredCode> {
  const transformations = (await documents(db, 'transformation')) as TransformationDocument[]
  const libraries = (await documents(db, 'library')) as LibraryDocument[]
  const ids = new Set<string>()
  for (const { newestId, published } of transformations) {
    ids.add(newestId)
    if (published === null) continue
    ids.add(published.versionId)
    for (const { versionId } of published.libraries) ids.add(versionId)
  }
  for (const { newestId, publishedId } of libraries) {
    ids.add(newestId)
    if (publishedId !== null) ids.add(publishedId)
  }
  const versions = await loadVersions(db, [...ids])
  const version = (id: string) => {
    const found = versions.get(id)
    if (found === undefined) throw new Error(`version ${id} is not in the database`)
    return found
  }
  return {
    transformations: transformations.map(({ newestId, published, ...rest }) => ({
      ...rest,
      newest: version(newestId),
      published: published && publication(rest.id, published, version),
    })),
    libraries: libraries.map(({ newestId, publishedId, ...rest }) => ({
      ...rest,
      newest: version(newestId),
      published: publishedId === null ? null : version(publishedId),
    })),
  }
}

export async function putTransformation(db: Transaction<Tables>, transformation: Transformation): Promise<void> {
  const { newest, published, ...rest } = transformation
  const document: TransformationDocument = {
    ...rest,
    newestId: newest.id,
    published: published && {
      versionId: published.versionId,
      libraries: published.libraries.map(({ importName, versionId }) => ({ importName, versionId })),
    },
  }
  await put(db, 'transformation', rest, document)
}

export async function putLibrary(db: Transaction<Tables>, { newest, published, ...rest }: Library): Promise<void> {
  const document: LibraryDocument = { ...rest, newestId: newest.id, publishedId: published?.id ?? null }
  await put(db, 'library', rest, document)
}

export async function insertVersion(db: Transaction<Tables>, { ownerId, value }: CodeVersionMade): Promise<void> {
  const { id, language, code, imports, createdAt: created_at, createdBy } = value
  const document = JSON.stringify({ language, imports, createdBy } satisfies VersionDocument)
  // As JSON, which writes every character that a text can hold.
  const row = { id, owner_id: ownerId, created_at, document, code: JSON.stringify(code) }
  await db.insertInto('code_version').values(row).execute()
}

/** @see ControlStore.codeVersions */
export async function selectVersions(
  db: Kysely<Tables>,
  ownerId: string,
  most: number,
): Promise<Omit<CodeVersion, 'code'>[]> {
  const rows = await db
    .selectFrom('code_version')
    .select(['id', 'created_at', 'document'])
    .where('owner_id', '=', ownerId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  return rows.reverse().map(withoutCode)
}

export async function selectVersion(db: Kysely<Tables>, ownerId: string, id: string): Promise<CodeVersion | undefined> {
  const row = await db
    .selectFrom('code_version')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', ownerId)
    .executeTakeFirst()
  return row && withCode(row)
}

const IDS_AT_ONCE = 500

async function loadVersions(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, CodeVersion>> {
  const versions = new Map<string, CodeVersion>()
  for (let i = 0; i < ids.length; i += IDS_AT_ONCE) {
    const some = ids.slice(i, i + IDS_AT_ONCE)
    for (const row of await db.selectFrom('code_version').selectAll().where('id', 'in', some).execute()) {
      versions.set(row.id, withCode(row))
    }
  }
  return versions
}

function publication(
  transformationId: string,
  { versionId, libraries }: StoredPublication,
  version: (id: string) => CodeVersion,
): TransformationCode {
  const { language, code } = version(versionId)
  return {
    transformationId,
    versionId,
    language,
    code,
    libraries: libraries.map((pin) => libraryCode(pin.importName, version(pin.versionId))),
  }
}

type VersionRow = Tables['code_version']

function withoutCode({ id, created_at, document }: Omit<VersionRow, 'code' | 'owner_id'>): Omit<CodeVersion, 'code'> {
  const { language, imports, createdBy } = JSON.parse(document) as VersionDocument
  return { id, language, imports, createdAt: Number(created_at), createdBy }
}

function withCode(row: VersionRow): CodeVersion {
  return { ...withoutCode(row), code: JSON.parse(row.code) as string }
}

async function documents(db: Kysely<Tables>, table: 'transformation' | 'library'): Promise<unknown[]> {
  const rows = await db.selectFrom(table).select('document').orderBy('created_at').orderBy('id').execute()
  return rows.map(({ document }) => JSON.parse(document))
}

async function put(
  db: Transaction<Tables>,
  table: 'transformation' | 'library',
  { id, key, createdAt: created_at }: Pick<Transformation, 'id' | 'key' | 'createdAt'>,
  content: TransformationDocument | LibraryDocument,
): Promise<void> {
  const row = { key, document: JSON.stringify(content) }
  await db
    .insertInto(table)
    .values({ id, created_at, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}
