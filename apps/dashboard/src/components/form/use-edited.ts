import type { UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ApiError } from '../../api/requests/client.ts'
import type { Tagged } from '../../api/requests/reading.ts'
import { type Base, etagForSave, inputAfterSave } from './edited-base.ts'

/** A kind of resource, such as sources, and its read and write calls. */
export interface EditedKind<One, Written, Body> {
  readonly useOne: (id: string) => { readonly data: Tagged<One> | undefined; readonly refetch: () => Promise<unknown> }
  readonly useChange: () => UseMutationResult<
    Answer<Body>,
    Error,
    { id: string; etag: string | null } & Partial<Written>
  >
  /** Reads the resource from the answer to a write. */
  readonly oneOf: (body: Body) => One
}

export interface Edited<T> {
  readonly written: T
  /** Initial values of the input. */
  readonly saved: T
  readonly error: Error | null
  /** Warning of the last save. */
  readonly warning: string | null
  readonly isPending: boolean
  readonly isSaved: boolean
  /** Count of saves: fields that hold a draft follow the answer. */
  readonly saves: number
  /** Count of loads of the other state: the fields begin anew. */
  readonly loads: number
  /** Another user saved since the input began. */
  readonly isChanged: boolean
  readonly hasInput: boolean
  /** The current state on the server. */
  readonly theirs: T | undefined
  readonly change: (changes: Partial<T>) => void
  readonly save: () => Promise<void>
  readonly keepMine: () => Promise<void>
  readonly loadTheirs: () => void
}

/**
 * State of a form for some members of a resource, and its saving. It never overwrites a concurrent change silently:
 * `isChanged` holds until the user loads or overwrites the other state.
 *
 * @param pick the members in the form.
 * @see contracts/dashboard.md §2 [U4]
 */
export function useEdited<One extends { readonly id: string }, Written, Body, T extends Partial<Written>>(
  { useOne, useChange, oneOf }: EditedKind<One, Written, Body>,
  one: Tagged<One>,
  pick: (one: One) => T,
): Edited<T> {
  const [written, setWritten] = useState<T>(() => pick(one))
  // Reading again does not change it.
  const [base, setBase] = useState<Base<T>>({ members: written, etag: one.etag })
  const [saves, setSaves] = useState(0)
  const [loads, setLoads] = useState(0)
  const { mutateAsync, error, data, isPending, isSuccess, reset } = useChange()
  const theirs = useOne(one.id)
  const live = theirs.data && { members: pick(theirs.data), etag: theirs.data.etag }
  const save = async (ifMatch: string | null) => {
    // The form shows the error.
    const saved = await mutateAsync({ id: one.id, etag: ifMatch, ...written }).catch(() => undefined)
    if (saved === undefined) return void (await theirs.refetch())
    const members = pick(oneOf(saved.body))
    setWritten((now) => inputAfterSave(now, written, members))
    setBase({ members, etag: saved.etag })
    setSaves((count) => count + 1)
  }
  return {
    written,
    saved: base.members,
    error,
    warning: data?.warning ?? null,
    isPending,
    isSaved: isSuccess,
    saves,
    loads,
    isChanged: error instanceof ApiError && error.kind === 'changed',
    hasInput: JSON.stringify(written) !== JSON.stringify(base.members),
    theirs: live?.members,
    change: (changes) => {
      setWritten((before) => ({ ...before, ...changes }))
      if (error !== null || isSuccess) reset()
    },
    save: () => save(etagForSave(base, live)),
    keepMine: () => save(live?.etag ?? null),
    loadTheirs: () => {
      if (live !== undefined) {
        setWritten(live.members)
        setBase(live)
        setLoads(loads + 1)
      }
      reset()
    },
  }
}
