/**
 * Partitions of the log. Each source lies in one of them, so the number bounds how many threads can share the delivery.
 * It never shrinks: a folder of an earlier release has one, and its sources stay in it.
 */
export const LOG_PARTITIONS = 16
