import type { Code } from '../../../api/code.ts'
import type { Tagged } from '../../../api/requests/reading.ts'
import type { Base } from '../../../components/form/edited-base.ts'

/** The saved code on which unsaved code is based. Publish and Save as test change its ETag, but not its members. */
export type CodeBase = Base<Pick<Code, 'versionId' | 'name' | 'description'>>

/** @param over the version on which code stored in this browser is based. */
export function codeBase({ versionId, name, description, etag }: Tagged<Code>, over = versionId): CodeBase {
  return { members: { versionId: over, name, description }, etag }
}

/** Another user saved a version after the base. */
export function isOlder({ members }: CodeBase, { versionId }: Pick<Code, 'versionId'>): boolean {
  return members.versionId !== versionId
}
