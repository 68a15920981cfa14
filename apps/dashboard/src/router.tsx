import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { Frame } from './shell/frame.tsx'
import { PageFailed } from './shell/page-failed.tsx'
import { PageMissing } from './shell/page-missing.tsx'
import type { PageRoute } from './shell/page-route.ts'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly page?: PageRoute
  }
}

/** Each folder below pages/ names its own routes, so that nobody has to add a page here. */
const folders = import.meta.glob<{ routes: readonly PageRoute[] }>('./pages/*/route.ts', { eager: true })

/** Every page there is, by the paths below /ui. */
const pageRoutes: readonly PageRoute[] = Object.values(folders).flatMap(({ routes }) => routes)

/** @see contracts/dashboard.md §2 [U1] */
export function newRouter() {
  const root = createRootRoute({ component: Frame, notFoundComponent: PageMissing, errorComponent: PageFailed })
  const children = pageRoutes.map((page) =>
    createRoute({
      getParentRoute: () => root,
      path: page.path,
      staticData: { page },
      ...('load' in page
        ? { component: lazyRouteComponent(page.load, page.component) }
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
    // Values are plain texts: what they mean is for the page to read.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: searchText,
    defaultPreload: 'intent',
    scrollRestoration: true,
  })
}

function searchText(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '')
  const text = new URLSearchParams(given as [string, string][]).toString()
  return text === '' ? '' : `?${text}`
}
