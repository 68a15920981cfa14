import { formatTime, type JsonObject } from '@millrace/protocol'
import type { CodeVersion, PublishedTransformation } from './code.ts'

export interface StoredTest {
  readonly id: string
  readonly name: string
  readonly input: readonly JsonObject[]
  readonly expectedOutput: readonly JsonObject[]
}

export interface Transformation {
  readonly id: string
  /** Identifies it in configuration as code; stays when the name changes. */
  readonly key: string
  readonly name: string
  readonly description: string
  /** Whether to keep the lines that live runs log. */
  readonly captureLogs: boolean
  /** The newest version, which users edit. */
  readonly newest: CodeVersion
  /** The version that runs in live traffic and in the Test API. */
  readonly published: PublishedTransformation | null
  readonly tests: readonly StoredTest[]
  readonly workspaceId: string
  readonly createdAt: number
  readonly updatedAt: number
  /** The configuration revision of its last change. */
  readonly revision: number
}

/** The form in which clients write and read tests. */
export function testsJson(tests: readonly StoredTest[]): JsonObject[] {
  return tests.map(({ id, name, input, expectedOutput }) => {
    return { id, name, input: [...input], expectedOutput: [...expectedOutput] }
  })
}

/** @param destinationIds of the destinations that use it. */
export function transformationJson(transformation: Transformation, destinationIds: readonly string[]): JsonObject {
  const { newest } = transformation
  return {
    id: transformation.id,
    versionId: newest.id,
    publishedVersionId: transformation.published?.versionId ?? null,
    name: transformation.name,
    description: transformation.description,
    language: newest.language,
    code: newest.code,
    imports: [...newest.imports],
    destinations: [...destinationIds],
    captureLogs: transformation.captureLogs,
    workspaceId: transformation.workspaceId,
    createdAt: formatTime(transformation.createdAt),
    updatedAt: formatTime(transformation.updatedAt),
  }
}
