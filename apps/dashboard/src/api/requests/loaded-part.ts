import { useSyncExternalStore } from 'react'

const AGAIN_MS = 5_000
/** A new version of the server has other files: the page is reloaded, but not repeatedly. */
const RELOADED = 'millrace.reloadedAt'
const LEAST_BETWEEN_RELOADS_MS = 60_000
/** Error texts of Chromium, Firefox, Safari and the style loader for a file that did not load. */
const NOT_LOADED = /dynamically imported module|Importing a module script failed|Unable to preload CSS/

let nextTryAt: number | undefined
let trying: Promise<boolean> | undefined
const listeners = new Set<() => void>()

/**
 * Loads a part of the dashboard. While the server is away it retries every 5 s, so a page that was opened meanwhile
 * appears when the server is back, and no input is lost.
 */
export async function loadedPart<T>(load: () => Promise<T>): Promise<T> {
  for (let isServerBack = false; ; ) {
    try {
      return await load()
    } catch (error) {
      if (!(error instanceof Error) || !NOT_LOADED.test(error.message)) throw error
      if (isServerBack) reloadOrThrow(error)
      trying ??= tryAgain()
      isServerBack = await trying
    }
  }
}

/** Time of the next attempt to load missing files, ms since 1970; undefined if no file is missing. */
export function useNextLoad(): number | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => nextTryAt,
  )
}

/** @returns whether the server answers. */
async function tryAgain(): Promise<boolean> {
  setNextTry(Date.now() + AGAIN_MS)
  await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  const page = await window.fetch('/ui/', { cache: 'no-store' }).catch(() => undefined)
  const isBack = page?.ok === true
  if (isBack) await reloadStyles()
  trying = undefined
  if (isBack) setNextTry(undefined)
  return isBack
}

/** A style sheet that failed stays in the page, and the loader does not request it again. */
async function reloadStyles(): Promise<void> {
  const missing = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].filter(({ sheet }) => !sheet)
  await Promise.all(
    missing.map(
      (link) =>
        new Promise<void>((resolve) => {
          const again = link.cloneNode() as HTMLLinkElement
          again.onload = again.onerror = () => resolve()
          link.replaceWith(again)
        }),
    ),
  )
}

function reloadOrThrow(error: Error): void {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0)
  if (Date.now() - last < LEAST_BETWEEN_RELOADS_MS) throw error
  sessionStorage.setItem(RELOADED, String(Date.now()))
  window.location.reload()
}

function setNextTry(at: number | undefined): void {
  nextTryAt = at
  for (const listener of listeners) listener()
}
