/*
 * What of the database counts as kept of a source, in bytes (contracts/schema-catalog.md §9 [D327]): observe/catalog-state.ts adds it
 * up as it writes, removals.ts anew when something was removed. Terms of SQL, over the columns of the table.
 */

/** Of a model or version, beside its texts, about. */
export const ROW_BYTES = 250
/** Of version_values. */
export const VALUES_BYTES = 'length(counters) + octet_length(texts)'
/** Of unversioned. */
export const UNVERSIONED_BYTES = `octet_length(keys) + ${VALUES_BYTES}`
/** Of samples. */
export const SAMPLE_BYTES = 'octet_length(event)'
