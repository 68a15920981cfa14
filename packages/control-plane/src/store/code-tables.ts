import type { Kysely } from 'kysely'
import {
  type CodeVersion,
  type CodeVersionHeader,
  type LibraryPin,
  libraryCode,
  type PublishedLibrary,
  transformationCode,
} from '../transformations/code.ts'
import type { Library } from '../transformations/library.ts'
import type { Transformation } from '../transformations/transformation.ts'
import type { CodeOwner, CodeVersionMade } from '../workspace/change.ts'
import type { Tables } from './tables.ts'

type Named<T> = Omit<T, 'newest' | 'published'> & {
  readonly newestId: string
  readonly publishedId: string | null
}

type VersionDocument = Pick<CodeVersion, 'language' | 'imports' | 'createdBy'>

export interface StoredCode {
  readonly transformations: readonly Transformation[]
  readonly libraries: readonly Library[]
}

/** Transformations and libraries with their newest and published versions. */
export async function loadCode(db: Kysely<Tables>): Promise<StoredCode> {
  const transformations = await selectDocuments<Transformation>(db, 'transformation')
  const libraries = await selectDocuments<Library>(db, 'library')
  const versions = new LoadedVersions(db)
  await versions.load(
    [...transformations, ...libraries].flatMap(({ newestId, publishedId }) => [newestId, publishedId]),
  )
  const pinsOf = (id: string | null) => (id === null ? [] : (versions.get(id).pins ?? []))
  await versions.load(
    transformations.flatMap(({ publishedId }) => pinsOf(publishedId).map(({ versionId }) => versionId)),
  )
  return {
    transformations: transformations.map(({ newestId, publishedId, ...rest }) => ({
      ...rest,
      newest: versions.get(newestId),
      published:
        publishedId === null
          ? null
          : transformationCode(rest.id, versions.get(publishedId), versions.pinned(pinsOf(publishedId))),
    })),
    libraries: libraries.map(({ newestId, publishedId, ...rest }) => ({
      ...rest,
      newest: versions.get(newestId),
      published: publishedId === null ? null : versions.get(publishedId),
    })),
  }
}

export async function putTransformation(db: Kysely<Tables>, transformation: Transformation): Promise<void> {
  const { newest, published, ...rest } = transformation
  await putDocument(db, 'transformation', { ...rest, newestId: newest.id, publishedId: published?.versionId ?? null })
}

export async function putLibrary(db: Kysely<Tables>, { newest, published, ...rest }: Library): Promise<void> {
  await putDocument(db, 'library', { ...rest, newestId: newest.id, publishedId: published?.id ?? null })
}

export async function putVersion(db: Kysely<Tables>, { owner, value }: CodeVersionMade): Promise<void> {
  const { id, language, code, imports, createdAt: created_at, createdBy } = value
  const document = JSON.stringify({ language, imports, createdBy } satisfies VersionDocument)
  const pins = value.pins && JSON.stringify(value.pins)
  await db
    .insertInto('code_version')
    // Code is stored as JSON, which can represent every character.
    .values({ id, owner_kind: owner.kind, owner_id: owner.id, created_at, document, pins, code: JSON.stringify(code) })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ pins }))
    .execute()
}

/** @see ControlStore.codeVersions */
export async function selectVersions(db: Kysely<Tables>, owner: CodeOwner, most: number): Promise<CodeVersionHeader[]> {
  const rows = await db
    .selectFrom('code_version')
    .select(['id', 'created_at', 'document'])
    .where('owner_id', '=', owner.id)
    .where('owner_kind', '=', owner.kind)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  return rows.reverse().map(headerOf)
}

export async function selectVersion(
  db: Kysely<Tables>,
  owner: CodeOwner,
  id: string,
): Promise<CodeVersion | undefined> {
  const row = await db
    .selectFrom('code_version')
    .selectAll()
    .where('id', '=', id)
    .where('owner_id', '=', owner.id)
    .where('owner_kind', '=', owner.kind)
    .executeTakeFirst()
  return row && versionOf(row)
}

/** @see ControlStore.libraryVersion */
export async function selectLibraryVersion(
  db: Kysely<Tables>,
  id: string,
): Promise<{ readonly libraryId: string; readonly version: CodeVersion } | undefined> {
  const row = await db
    .selectFrom('code_version')
    .selectAll()
    .where('id', '=', id)
    .where('owner_kind', '=', 'library')
    .executeTakeFirst()
  return row && { libraryId: row.owner_id, version: versionOf(row) }
}

/** @see ControlStore.pinnedVersions */
export async function selectPinned(
  db: Kysely<Tables>,
  pins: readonly LibraryPin[],
): Promise<ReadonlyMap<string, CodeVersion>> {
  const versions = new LoadedVersions(db)
  await versions.load(pins.map(({ versionId }) => versionId))
  return new Map(pins.map(({ importName, versionId }) => [importName, versions.get(versionId)]))
}

const IDS_AT_ONCE = 500

class LoadedVersions {
  readonly #db: Kysely<Tables>
  readonly #versions = new Map<string, CodeVersion>()

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  async load(ids: readonly (string | null)[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => id !== null && !this.#versions.has(id)) as string[]
    for (let i = 0; i < missing.length; i += IDS_AT_ONCE) {
      const some = missing.slice(i, i + IDS_AT_ONCE)
      const rows = await this.#db.selectFrom('code_version').selectAll().where('id', 'in', some).orderBy('id').execute()
      for (const row of rows) this.#versions.set(row.id, versionOf(row))
    }
  }

  get(id: string): CodeVersion {
    const version = this.#versions.get(id)
    if (version === undefined) throw new Error(`the version of code ${id} is not in the database`)
    return version
  }

  pinned(pins: readonly LibraryPin[]): PublishedLibrary[] {
    return pins.map(({ importName, versionId }) => libraryCode(importName, this.get(versionId)))
  }
}

type VersionRow = Tables['code_version']

function headerOf({ id, created_at, document }: Pick<VersionRow, 'id' | 'created_at' | 'document'>): CodeVersionHeader {
  const { language, imports, createdBy } = JSON.parse(document) as VersionDocument
  return { id, language, imports, createdAt: Number(created_at), createdBy }
}

function versionOf(row: VersionRow): CodeVersion {
  const pins = row.pins === null ? null : (JSON.parse(row.pins) as LibraryPin[])
  return { ...headerOf(row), code: JSON.parse(row.code) as string, pins }
}

async function selectDocuments<T>(db: Kysely<Tables>, table: 'transformation' | 'library'): Promise<Named<T>[]> {
  const rows = await db.selectFrom(table).select('document').orderBy('created_at').orderBy('id').execute()
  return rows.map(({ document }) => JSON.parse(document) as Named<T>)
}

async function putDocument(
  db: Kysely<Tables>,
  table: 'transformation' | 'library',
  document: Named<Transformation> | Named<Library>,
): Promise<void> {
  const { id, key, createdAt: created_at } = document
  const row = { key, document: JSON.stringify(document) }
  await db
    .insertInto(table)
    .values({ id, created_at, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}
