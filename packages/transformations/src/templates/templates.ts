import { enrichOverHttp } from './enrich-over-http.ts'
import { keepListedFields } from './keep-listed-fields.ts'
import { maskPersonalData } from './mask-personal-data.ts'
import { sampleByUser } from './sample-by-user.ts'
import type { TransformationTemplate } from './template.ts'

/** All that are shipped, in the order in which they are shown. */
export const transformationTemplates: readonly TransformationTemplate[] = [
  maskPersonalData,
  keepListedFields,
  sampleByUser,
  enrichOverHttp,
]
