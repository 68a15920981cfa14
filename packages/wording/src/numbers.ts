/** `1,204`: how every number of things is written. Without Intl, whose data take 10 ms to load at each start. */
export function grouped(count: number): string {
  const [whole, fraction] = `${Number.isInteger(count) ? count : Math.round(count * 1_000) / 1_000}`.split('.')
  const text = whole!.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? text : `${text}.${fraction}`
}

/** `1 attempt`, `2 attempts`. */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
