import type { QueryClient } from '@tanstack/react-query'
import { createRootRoute, createRoute, createRouter, type RouteComponent, redirect } from '@tanstack/react-router'
import { Suspense } from 'react'
import { sessionHalf } from './api/session/session-half.ts'
import { lazyPart } from './components/lazy-part.ts'
import { Frame } from './shell/frame.tsx'
import { PageFailed } from './shell/page/page-failed.tsx'
import { PageMissing } from './shell/page/page-missing.tsx'
import { PagePending } from './shell/page/page-pending.tsx'
import type { LoadedPage, PageRoute } from './shell/page/page-route.ts'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly page?: PageRoute
  }
}

/** Each folder below pages/ exports its own routes; this file needs no change for a new page. */
const folders = import.meta.glob<{ routes: readonly PageRoute[] }>('./pages/*/route.ts', { eager: true })

/** Every page, by its path below /ui. */
const pageRoutes: readonly PageRoute[] = Object.values(folders).flatMap(({ routes }) => routes)

export function newRouter() {
  const root = createRootRoute({ component: Frame, notFoundComponent: PageMissing, errorComponent: PageFailed })
  const children = pageRoutes.map((page) =>
    createRoute({
      getParentRoute: () => root,
      path: page.path,
      staticData: { page },
      ...('load' in page
        ? { component: pageComponent(page) }
        : {
            beforeLoad: ({ params }: { params: Record<string, string> }) => {
              throw redirect({ to: page.redirectTo, params, replace: true })
            },
          }),
    }),
  )
  return createRouter({
    routeTree: root.addChildren(children),
    basepath: '/ui',
    // Values are plain texts: the page parses them.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: searchText,
    defaultPreload: 'intent',
    scrollRestoration: true,
  })
}

/**
 * The page, or its head and a skeleton while its files load: the previous page never stays visible under the new
 * address. The router would wait for the files, so it does not know them.
 */
function pageComponent({ title, load, component }: LoadedPage): RouteComponent {
  const loadPage = () => load().then((module) => ({ default: module[component] }))
  const Page = lazyPart(loadPage)
  const Routed = () => (
    <Suspense fallback={<PagePending title={title} />}>
      <Page />
    </Suspense>
  )
  // Preloading on hover must not report a failure.
  const preload = async () => void loadPage().catch(() => {})
  return Object.assign(Routed, { preload })
}

/** For a signed-in user: requests the data of the first page while its files load. */
export function askForFirstPage(router: ReturnType<typeof newRouter>, client: QueryClient): void {
  if (sessionHalf() === null) return
  const page = router.matchRoutes(router.latestLocation).at(-1)?.staticData.page
  if (page !== undefined && 'ask' in page) page.ask?.(client)
}

function searchText(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '')
  const text = new URLSearchParams(given as [string, string][]).toString()
  return text === '' ? '' : `?${text}`
}
