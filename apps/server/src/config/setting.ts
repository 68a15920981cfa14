/**
 * One environment variable: its name, what it may be and what it is for. Loading, checking, `millrace settings` and
 * /v2/admin/info all work from these.
 */
export interface Setting<T> {
  readonly name: string
  readonly kind: 'text' | 'number' | 'switch' | 'secret'
  /** As one would write it; undefined: nothing. */
  readonly defaultText: string | undefined
  /** One line for people. */
  readonly purpose: string
  /** What may be given, to be read after "allowed: ". */
  readonly allowed: string
  /** The value of a text; undefined if it is not allowed. */
  readonly parse: (text: string) => T | undefined
  /** A text as everybody may see it. */
  readonly show: (text: string) => string | number
}

/** What a setting is when nothing is given and nothing is the default. */
export type OptionalSetting<T> = Setting<T | undefined>

export const KB = 1024
export const MB = 1024 * 1024

/** In place of everything secret. */
export const MASK = '********'

interface TextOptions<T> {
  readonly purpose: string
  readonly allowed: string
  readonly parse: (text: string) => T | undefined
  readonly show?: (text: string) => string
}

export function text<T>(name: string, defaultText: string, options: TextOptions<T>): Setting<T> {
  return { name, kind: 'text', defaultText, show: (given) => given, ...options }
}

export function optionalText<T>(name: string, options: TextOptions<T>): OptionalSetting<T> {
  return { name, kind: 'text', defaultText: undefined, show: (given) => given, ...options }
}

export function secret<T>(name: string, options: Omit<TextOptions<T>, 'show'>): OptionalSetting<T> {
  return { name, kind: 'secret', defaultText: undefined, ...options, show: () => MASK }
}

interface NumberOptions {
  readonly purpose: string
  readonly from: number
  readonly to: number
  /** How many of the value's units one of the variable's is: 1,024 for KB when the value is in bytes. Default 1. */
  readonly factor?: number
  /** What 0 stands for, where it is not just a number. */
  readonly zero?: string
}

/** A whole number. */
export function number(name: string, standard: number, options: NumberOptions): Setting<number> {
  const { purpose, from, to, factor = 1, zero } = options
  const range = `a whole number from ${grouped(from)} to ${grouped(to)}`
  return {
    name,
    kind: 'number',
    defaultText: String(standard),
    purpose,
    allowed: zero === undefined ? range : `${range} (0 = ${zero})`,
    parse: (given) => {
      const value = Number(given)
      return /^\d{1,15}$/.test(given) && value >= from && value <= to ? value * factor : undefined
    },
    show: (given) => (/^\d+$/.test(given) ? Number(given) : given),
  }
}

/** A whole number that is worked out where none is given. */
export function optionalNumber(name: string, options: NumberOptions): OptionalSetting<number> {
  return { ...number(name, 0, options), defaultText: undefined }
}

export function onOff(name: string, standard: 'on' | 'off', purpose: string): Setting<boolean> {
  return {
    name,
    kind: 'switch',
    defaultText: standard,
    purpose,
    allowed: 'on or off',
    parse: (given) => (given === 'on' ? true : given === 'off' ? false : undefined),
    show: (given) => given,
  }
}

export function trueOrFalse(name: string, standard: 'true' | 'false', purpose: string): Setting<boolean> {
  return text(name, standard, {
    purpose,
    allowed: 'true or false',
    parse: (given) => (given === 'true' ? true : given === 'false' ? false : undefined),
  })
}

function grouped(value: number): string {
  return value.toLocaleString('en-US')
}
