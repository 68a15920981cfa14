const GROUPED = new Intl.NumberFormat('en-US')

/** `1,204`: how every number of things is written. */
export const grouped = (count: number): string => GROUPED.format(count)

/** `1 attempt`, `2 attempts`. */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
