import { Option } from 'commander'

export interface RateOption {
  readonly rate?: string
}

/** `--rate` of whatever replays. @see contracts/delivery.md §7 [D621] */
export function rateOption(): Option {
  return new Option('--rate <n>', 'events a second, for all destinations together (default 100)')
}

/** What it says in the body of a request: nothing where it was left out, which is the standard rate. The server judges it. */
export function atRate({ rate }: RateOption): { rateEventsPerSecond?: number } {
  return rate === undefined ? {} : { rateEventsPerSecond: Number(rate) }
}
