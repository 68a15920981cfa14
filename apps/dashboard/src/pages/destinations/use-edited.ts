import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import {
  type Destination,
  type DestinationWritten,
  useChangeDestination,
  useDestination,
} from '../../api/destinations.ts'
import type { Tagged } from '../../api/reading.ts'

/**
 * Some members of a destination while somebody writes them, and their saving. Whoever wrote meanwhile is not written over:
 * then `isChanged` holds, and `theirs` is what stands at the server.
 *
 * @param pick the members that are written here.
 */
export function useEdited<T extends Partial<DestinationWritten>>(
  destination: Tagged<Destination>,
  pick: (destination: Destination) => T,
) {
  const [written, setWritten] = useState<T>(() => pick(destination))
  // What the input began with, and its state: reading it again meanwhile changes neither.
  const [began, setBegan] = useState<T>(written)
  const [etag, setEtag] = useState(destination.etag)
  const { mutateAsync, error, data, isPending, isSuccess, reset } = useChangeDestination()
  const theirs = useDestination(destination.id)
  const begin = (from: Destination, tag: string | null) => {
    setWritten(pick(from))
    setBegan(pick(from))
    setEtag(tag)
  }
  const save = async (ifMatch: string | null) => {
    // What is refused is shown beside the input.
    const saved = await mutateAsync({ id: destination.id, etag: ifMatch, ...written }).catch(() => undefined)
    if (saved === undefined) await theirs.refetch()
    else begin(saved.body.destination, saved.etag)
  }
  return {
    written,
    saved: began,
    error,
    /** Of the last saving: what the server did beyond what was asked. */
    warning: data?.warning ?? null,
    isPending,
    isSaved: isSuccess,
    isChanged: error instanceof ApiError && error.kind === 'changed',
    hasInput: JSON.stringify(written) !== JSON.stringify(began),
    theirs: theirs.data && pick(theirs.data),
    change: (changes: Partial<T>) => {
      setWritten((before) => ({ ...before, ...changes }))
      if (error !== null || isSuccess) reset()
    },
    save: () => save(etag),
    keepMine: () => save(theirs.data?.etag ?? null),
    loadTheirs: () => {
      if (theirs.data !== undefined) begin(theirs.data, theirs.data.etag)
      reset()
    },
  }
}

export type Edited<T extends Partial<DestinationWritten>> = ReturnType<typeof useEdited<T>>
