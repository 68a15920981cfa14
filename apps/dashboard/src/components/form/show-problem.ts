import { afterFrame } from '../../api/after-frame.ts'

/** Shows what is wrong with a form that may be longer than the window: the first field with an error, or the refusal above the form. */
export async function showProblem(form: HTMLElement): Promise<void> {
  await afterFrame()
  const problem = form.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]')
  problem?.scrollIntoView({ block: 'center' })
  if (problem?.matches('input, textarea')) problem.focus({ preventScroll: true })
}
