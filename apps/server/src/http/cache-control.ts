/** For files whose name changes with their content: cached for a year. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'
