import { useState } from 'react'
import type { Code } from '../../../api/code.ts'
import { ApiError } from '../../../api/requests/client.ts'
import { etagForSave } from '../../../components/form/edited-base.ts'
import type { CodeTabProps } from '../code-kind.ts'
import { dropUnsavedCode, keepUnsavedCode, unsavedCode } from '../unsaved-code.ts'
import { type CodeBase, codeBase, isOlder } from './code-base.ts'

export type WrittenCode = ReturnType<typeof useWrittenCode>

type Writing = Pick<Code, 'code' | 'language' | 'name' | 'description'>

/**
 * Unsaved code: stored in this browser with every change until it is saved, so closing the tab loses nothing. It is
 * based on a version; another user may save meanwhile.
 */
export function useWrittenCode({ kind, code: saved }: CodeTabProps) {
  const [begun] = useState(() => unsavedCode(localStorage, saved.id))
  const [written, setWritten] = useState<Writing>(() => ({ ...writing(saved), ...(begun && pick(begun)) }))
  // Reading again does not change the base.
  const [base, setBase] = useState<CodeBase>(() => codeBase(saved, begun?.over))
  const [isKept, setKept] = useState(begun !== undefined)
  const [isOverOlder, setOverOlder] = useState(() => isOlder(base, saved))
  const { mutateAsync, error, isPending, reset } = kind.useChange()
  const theirs = kind.useOne(saved.id)
  const isDirty = JSON.stringify(written) !== JSON.stringify(writing(saved))

  const change = (changes: Partial<Writing>) => {
    const next = { ...written, ...changes }
    setWritten(next)
    if (error !== null) reset()
    if (next.code === saved.code && next.language === saved.language) dropUnsavedCode(localStorage, saved.id)
    else keepUnsavedCode(localStorage, saved.id, { ...pick(next), over: base.members.versionId }, Date.now())
  }
  const load = (code: CodeTabProps['code']) => {
    dropUnsavedCode(localStorage, saved.id)
    setWritten(writing(code))
    setBase(codeBase(code))
    setKept(false)
    setOverOlder(false)
    reset()
  }
  const live = theirs.data && codeBase(theirs.data)
  /**
   * @param over the ETag to overwrite; without it, code over an older version is not saved.
   * @returns the newest version, or undefined if it was refused, which the page shows.
   */
  const save = async (over?: string | null): Promise<string | undefined> => {
    // A second save would be refused: the first one changes the ETag.
    if (isPending || (over === undefined && isOverOlder)) return undefined
    const ifMatch = over === undefined ? etagForSave(base, live) : over
    const captureLogs = 'captureLogs' in saved ? { captureLogs: saved.captureLogs as boolean } : {}
    const answer = await mutateAsync({ id: saved.id, etag: ifMatch, ...written, ...captureLogs }).catch(() => undefined)
    if (answer === undefined) {
      await theirs.refetch()
      return undefined
    }
    dropUnsavedCode(localStorage, saved.id)
    setKept(false)
    setOverOlder(false)
    const one = 'transformation' in answer.body ? answer.body.transformation : answer.body.library
    setBase(codeBase({ ...one, etag: answer.etag }))
    return one.versionId
  }
  return {
    written,
    change,
    save,
    isDirty,
    isSaving: isPending,
    error,
    /** Found in this browser when the page opened. */
    isKept: isKept && isDirty,
    /** Another user saved since the input began. */
    isChanged: isOverOlder || (error instanceof ApiError && error.kind === 'changed'),
    theirs: theirs.data,
    discard: () => load(theirs.data ?? saved),
  }
}

function writing({ code, language, name, description }: Code): Writing {
  return { code, language, name, description }
}

function pick({ code, language }: Pick<Code, 'code' | 'language'>) {
  return { code, language }
}
