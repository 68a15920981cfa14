import type { Language } from '../code.ts'

/** Code to begin with. */
export interface TransformationTemplate {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly language: Language
  readonly code: string
}
