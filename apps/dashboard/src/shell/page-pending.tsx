import { Loading } from '../components/states/loading.tsx'
import { PageHead } from './page-head.tsx'

/** In place of a page whose files are on their way. */
export function PagePending({ title }: { readonly title: string }) {
  return (
    <>
      <PageHead title={title} />
      <Loading />
    </>
  )
}
