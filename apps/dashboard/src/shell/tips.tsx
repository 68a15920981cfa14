import { Tooltip } from '@mantine/core'
import { useEffect, useId, useState } from 'react'

const DELAY_MS = 300

interface Tip {
  readonly of: HTMLElement
  readonly text: string
}

/**
 * The single tooltip of the page: it shows the text of `data-tip` when an element is hovered, touched, or focused by
 * the keyboard, until the user leaves it or presses Escape. A tooltip for each button of a list would cost more than
 * the rest of its row.
 */
export function Tips() {
  const [tip, setTip] = useState<Tip>()
  // Opens after Mantine knows its anchor: earlier, it would appear in the corner of the page.
  const [placed, setPlaced] = useState<HTMLElement>()
  const id = useId()
  const of = tip?.of
  useEffect(() => watchTips(setTip), [])
  useEffect(() => {
    setPlaced(of)
    if (of === undefined) return
    of.setAttribute('aria-describedby', id)
    // The text may change, and the element may disappear, while it is shown.
    const changes = new MutationObserver(() => setTip((before) => sameTip(before, tipOf(of))))
    changes.observe(document.body, { subtree: true, childList: true, attributeFilter: ['data-tip'] })
    return () => {
      changes.disconnect()
      of.removeAttribute('aria-describedby')
    }
  }, [of, id])
  if (tip === undefined) return null
  return (
    <Tooltip id={id} target={tip.of} label={tip.text} opened={placed === tip.of} multiline w="max-content" maw={360} />
  )
}

/** @returns a function that ends it. */
function watchTips(setTip: (tip: Tip | undefined) => void): () => void {
  let shown: HTMLElement | undefined
  let pointed: HTMLElement | null = null
  let coming: ReturnType<typeof setTimeout> | undefined
  const show = (of: HTMLElement | undefined) => {
    clearTimeout(coming)
    shown = of
    setTip(of && tipOf(of))
  }
  const hide = () => show(undefined)
  const point = (at: HTMLElement | null, delayMs: number) => {
    if (at === pointed) return
    pointed = at
    hide()
    if (at !== null) coming = setTimeout(show, delayMs, at)
  }
  const end = new AbortController()
  const options = { signal: end.signal, passive: true }
  document.addEventListener(
    'pointerover',
    ({ target, pointerType }) => {
      const at = target instanceof Element ? target.closest<HTMLElement>('[data-tip]') : null
      point(at, pointerType === 'mouse' ? DELAY_MS : 0)
    },
    options,
  )
  document.documentElement.addEventListener('pointerleave', () => point(null, 0), options)
  document.addEventListener(
    'focusin',
    ({ target }) => target instanceof HTMLElement && target.matches('[data-tip]:focus-visible') && show(target),
    options,
  )
  document.addEventListener('focusout', ({ target }) => target === shown && hide(), options)
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), options)
  document.addEventListener('scroll', hide, { ...options, capture: true })
  return () => {
    clearTimeout(coming)
    end.abort()
  }
}

function tipOf(of: HTMLElement): Tip | undefined {
  const text = of.dataset['tip']
  return of.isConnected && text ? { of, text } : undefined
}

function sameTip(before: Tip | undefined, now: Tip | undefined): Tip | undefined {
  return before?.of === now?.of && before?.text === now?.text ? before : now
}
