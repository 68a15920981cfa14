import { Button } from '@mantine/core'
import { useChangeDestination, useDestination } from '../../api/destinations.ts'
import { Refusal } from '../../components/form/refusal.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'

/**
 * A new destination is created disabled and tested here: after a success the user can enable it. @see
 * contracts/dashboard.md §9 [U15]
 */
export function EnableTarget({ id }: { readonly id: string }) {
  const { data } = useDestination(id)
  const { mutate, error, isPending } = useChangeDestination()
  return (
    <>
      <Refusal error={error} />
      <NeedsRole role="editor">
        <Button
          variant="default"
          disabled={data === undefined}
          loading={isPending}
          onClick={() => data && mutate({ id, etag: data.etag, enabled: true })}
        >
          Enable
        </Button>
      </NeedsRole>
    </>
  )
}
