import type { FieldOptions } from '../messages.ts'
import type { CoreChoices } from './core.ts'

const MAX_CHOICES = 1_000
const MAX_TEXT = 1_000

/** The vendor's API refused to list choices. */
export class ChoicesError extends Error {
  override readonly name = 'ChoicesError'
  readonly status: number

  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}

/** Choices as they cross to the host. @throws ChoicesError */
export function fieldOptions({ choices = [], nextPage, error }: CoreChoices): FieldOptions {
  if (error !== undefined && choices.length === 0) {
    const status = Number(error.code)
    throw new ChoicesError(status >= 400 && status < 600 ? status : 400, error.message ?? 'no choices')
  }
  const shown = choices.slice(0, MAX_CHOICES).map(({ label, value }) => ({
    label: textOf(label ?? value),
    value: textOf(value),
  }))
  return { choices: shown, ...(nextPage === undefined || nextPage === '' ? {} : { nextPage: textOf(nextPage) }) }
}

function textOf(value: unknown): string {
  return String(value ?? '').slice(0, MAX_TEXT)
}
