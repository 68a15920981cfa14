import type { Page } from 'playwright-core'

interface HeldRequest {
  /** Resolves when the page has sent it. */
  readonly sent: Promise<void>
  /** Lets it through. */
  readonly release: () => void
}

/** Holds each request of a method and URL pattern, until it is released. */
export async function holdRequest(page: Page, method: string, url: string): Promise<HeldRequest> {
  const held = Promise.withResolvers<void>()
  const sent = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    if (route.request().method() !== method) return route.continue()
    sent.resolve()
    await held.promise
    await route.continue()
  })
  return { sent: sent.promise, release: held.resolve }
}
