/** SQL: the partition is one of a JSON list, the next value. */
export const IN_PARTITIONS = 'partition IN (SELECT value FROM json_each(?))'
