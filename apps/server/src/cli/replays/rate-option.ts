import { Option } from 'commander'

export interface RateOption {
  readonly rate?: string
}

/** `--rate` of every command that replays. @see contracts/delivery.md §7 [D621] */
export function rateOption(): Option {
  return new Option('--rate <n>', 'events a second, for all destinations together (default 100)')
}

/** Its member in the body of a request; absent for the default rate. The server checks the value. */
export function atRate({ rate }: RateOption): { rateEventsPerSecond?: number } {
  return rate === undefined ? {} : { rateEventsPerSecond: Number(rate) }
}
