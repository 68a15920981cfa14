/*
 * What runs inside a page, as text: the clock that counts is the page's own, from the start of its navigation or from what a
 * person does to the frame that shows what came of it.
 */

/** Runs before the page's own scripts. `afterPaint(isDone)` resolves once a frame with that is on the screen. */
export const AFTER_PAINT = `
globalThis.afterPaint = (isDone) => new Promise((resolve) => {
  const channel = new MessageChannel()
  channel.port1.onmessage = () => resolve(performance.now())
  const look = () => requestAnimationFrame(() => isDone() ? channel.port2.postMessage(0) : look())
  look()
})`

/** Home shows its picture with the state of each node, and the figures above it. */
const IS_HOME_USABLE = `() => {
  const main = document.querySelector('main')
  if (main === null || main.querySelector('[aria-busy=true]') !== null) return false
  if (main.querySelector('section[aria-label="Flow of events"] a') === null) return false
  const figures = [...main.querySelectorAll('a')].map((link) => link.textContent)
  return ['Waiting', 'Dead'].every((name) => figures.some((text) => text.startsWith(name) && !text.endsWith('–')))
}`

/** Milliseconds from the start of the navigation. */
export const HOME_USABLE_MS = `afterPaint(${IS_HOME_USABLE})`

/** Milliseconds from a click in the navigation until the page with this title shows what it lists. */
export function pageChangeMs(title: string): string {
  return `(async () => {
    const isShown = () => {
      const main = document.querySelector('main')
      const isRead = main.querySelector('[aria-busy=true]') === null
      const content = '[role=row][data-row], section[aria-label="Flow of events"] a'
      return isRead && main.querySelector('h1')?.textContent === '${title}' && main.querySelector(content) !== null
    }
    const links = [...document.querySelectorAll('nav[aria-label=Sections] a')]
    const from = performance.now()
    links.find((link) => link.textContent === '${title}').click()
    return await afterPaint(isShown) - from
  })()`
}

/** Milliseconds from a click on this row until so many rows of a table are to be seen. */
export function openingMs(row: string, table: string, rows: number): string {
  return `(async () => {
    const isShown = () =>
      document.querySelector('[role=table][aria-label="${table}"]')?.getAttribute('aria-rowcount') === '${rows + 1}'
    const from = performance.now()
    document.querySelector('[role=row][aria-label="${row}"]').click()
    return await afterPaint(isShown) - from
  })()`
}

/** Of each click and key from here on how long it took to the next frame, if that was longer than the browser tells of. */
export const UNTOLD_INTERACTION_MS = 16
export const WATCH_INTERACTIONS = `
globalThis.interactions = new Map()
new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) {
    if (interactionId > 0) interactions.set(interactionId, Math.max(interactions.get(interactionId) ?? 0, duration))
  }
}).observe({ type: 'event', durationThreshold: ${UNTOLD_INTERACTION_MS}, buffered: true })`
export const INTERACTIONS_MS = '[...interactions.values()]'

/** Half an hour of them, outside of the heap that is measured as well. */
const MAX_FRAMES = 120_000
export const WATCH_FRAMES = `
globalThis.frameWatch = { lengths: new Float32Array(${MAX_FRAMES}), count: 0, isOn: true }
requestAnimationFrame(function tick(now, before = now) {
  if (!frameWatch.isOn) return
  if (now > before && frameWatch.count < ${MAX_FRAMES}) frameWatch.lengths[frameWatch.count++] = now - before
  requestAnimationFrame((next) => tick(next, now))
})`
/** Ends the watch. Milliseconds between frames. */
export const FRAMES_MS = `(() => {
  frameWatch.isOn = false
  return [...frameWatch.lengths.subarray(0, frameWatch.count)]
})()`

/** Loads a list that scrolls with the page to its end. @returns a script for how many rows it has. */
export function loadAllRows(table: string): string {
  return `new Promise((resolve) => {
    const look = () => {
      const count = Number(document.querySelector('[role=table][aria-label="${table}"]')?.getAttribute('aria-rowcount'))
      if (count > 1) return resolve(count - 1)
      scrollTo(0, document.documentElement.scrollHeight)
      setTimeout(look, 50)
    }
    look()
  })`
}

/** A second of wheeling, as fast as hands do. */
const STRETCH_FRAMES = 60
const STRETCH_PIXELS_OF_FRAME = 150

/** Scrolls for a while, jumps on as by the scroll bar, scrolls again, and so through the whole of a page. */
export function scrollThrough(stretches: number): string {
  return `new Promise((resolve) => {
    const last = document.documentElement.scrollHeight - innerHeight
    let frame = 0
    const step = () => {
      if (frame % ${STRETCH_FRAMES} === 0) scrollTo(0, (last * frame) / ${STRETCH_FRAMES * stretches})
      else scrollBy(0, ${STRETCH_PIXELS_OF_FRAME})
      if (++frame < ${STRETCH_FRAMES * stretches}) requestAnimationFrame(step)
      else resolve()
    }
    requestAnimationFrame(step)
  })`
}

/** As for the page of a tab that somebody has left: without a window no tab of Chromium ever is. */
export const HIDE = `
Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })
document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`
