import type { Language } from '../code.ts'

/** Code to begin with. @see contracts/transformations.md §10 */
export interface TransformationTemplate {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly language: Language
  readonly code: string
}
