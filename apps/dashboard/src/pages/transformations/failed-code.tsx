import type { Code } from '../../api/code.ts'
import { useDestinations } from '../../api/destinations.ts'
import { FailedBefore } from '../dead-letters/failed-before.tsx'

const STAGES = ['user_transformation'] as const

/** After publishing: the events on which the previous code failed. A library has none. */
export function FailedCode({ code: { id } }: { readonly code: Code }) {
  const users = useDestinations().data?.filter(({ transformationIds }) => transformationIds.includes(id)) ?? []
  return <FailedBefore destinations={users} stages={STAGES} />
}
