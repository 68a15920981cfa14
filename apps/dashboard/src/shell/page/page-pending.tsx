import { Loading } from '../../components/states/loading.tsx'
import { PageHead } from './page-head.tsx'

/** Shown while the files of a page load. */
export function PagePending({ title }: { readonly title: string }) {
  return (
    <>
      <PageHead title={title} />
      <Loading />
    </>
  )
}
