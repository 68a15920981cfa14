import type { Stage } from '@millrace/api-types'

/** The stage where an event failed, in words. */
export const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  user_transformation: 'transformation',
  dest_transformation: 'creating the request',
  delivery: 'delivery',
  internal: 'internal error',
}
