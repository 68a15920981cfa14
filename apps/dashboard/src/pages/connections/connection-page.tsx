import type { Connection } from '@millrace/api-types'
import { Link, useParams } from '@tanstack/react-router'
import { useConnection } from '../../api/connections.ts'
import { useDestination } from '../../api/destinations.ts'
import { useSource } from '../../api/sources.ts'
import { ShownId } from '../../components/shown-id.tsx'
import { OnOffMark } from '../../components/state-mark.tsx'
import { Shown } from '../../components/states/shown.tsx'
import { PageHead } from '../../shell/page/page-head.tsx'
import { ConnectionRulesForm } from './rules/connection-rules-form.tsx'

/** Which events go from a source to a destination. */
export function ConnectionPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const reading = useConnection(id)
  return (
    <>
      <PageHead title="Connection" meta={reading.data && <ConnectionMeta connection={reading.data} />} />
      <Shown of={reading} thing="Connection" id={id}>
        {(connection) => <ConnectionRulesForm key={connection.id} connection={connection} />}
      </Shown>
    </>
  )
}

function ConnectionMeta({ connection: { id, sourceId, destinationId, enabled } }: { readonly connection: Connection }) {
  const source = useSource(sourceId).data
  const destination = useDestination(destinationId).data
  return (
    <>
      <span>
        <Link to="/sources/$id" params={{ id: sourceId } as never}>
          {source?.name ?? sourceId}
        </Link>
        {' → '}
        <Link to="/destinations/$id" params={{ id: destinationId } as never}>
          {destination?.name ?? destinationId}
        </Link>
      </span>
      <OnOffMark isOn={enabled} />
      <ShownId id={id} />
    </>
  )
}
