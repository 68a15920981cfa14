import type { FormEvent } from 'react'
import { afterFrame } from '../../api/after-frame.ts'

/**
 * Handler of a form that may be longer than the window.
 *
 * @param work saves, unless fields are wrong. Then the first wrong field is shown, or the refusal above the form.
 */
export function submitting(work: () => Promise<unknown>) {
  return async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget
    await work()
    await showProblem(form)
  }
}

/** Scrolls to the first wrong field of a form, or to its refusal. */
export async function showProblem(form: HTMLFormElement): Promise<void> {
  await afterFrame()
  const problem =
    form.querySelector<HTMLElement>('[aria-invalid="true"]') ?? form.querySelector<HTMLElement>('[role="alert"]')
  problem?.scrollIntoView({ block: 'center' })
  if (problem?.matches('input, textarea')) problem.focus({ preventScroll: true })
}
