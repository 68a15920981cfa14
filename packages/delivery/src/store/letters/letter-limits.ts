/** The reason that traces show after a discard. */
export const DISCARDED_BY_PERSON = 'dead letter was discarded'
/** Maximum of groups of an answer: user code may produce a different reason for each event. */
export const MAX_GROUPS = 1_000
/** Number of dead letters that one transaction gives up: small, because outcomes wait for it. */
export const LETTERS_EXPIRED_TOGETHER = 500
/** Maximum of dead letters that one call reads: a rare filter yields short pages with a cursor, never a long wait. */
export const MAX_LOOKED_AT = 10_000
