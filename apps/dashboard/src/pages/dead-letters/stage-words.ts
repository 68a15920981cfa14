import type { Stage } from '@millrace/api-types'

/** Where an event was given up, in words. */
export const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  user_transformation: 'transformation',
  dest_transformation: 'creating the request',
  delivery: 'delivery',
  internal: 'internal error',
}
