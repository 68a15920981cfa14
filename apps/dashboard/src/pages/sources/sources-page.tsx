import { PageHead } from '../../shell/page-head.tsx'

export function SourcesPage() {
  return <PageHead title="Sources" />
}
