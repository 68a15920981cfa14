import { grouped } from '@millrace/wording'
/**
 * One environment variable: its name, its allowed values and its purpose. Loading, checking, `millrace settings` and
 * /v2/admin/info all use these.
 */
export interface Setting<T> {
  readonly name: string
  readonly kind: 'text' | 'number' | 'switch' | 'secret'
  /** The default as an operator would write it; undefined: none. */
  readonly defaultText: string | undefined
  /** One line for people. */
  readonly purpose: string
  /** The allowed values; shown after "allowed: ". */
  readonly allowed: string
  /** Parses a text; undefined if it is not allowed. */
  readonly parse: (text: string) => T | undefined
  /** The form of a text that anyone may see. */
  readonly show: (text: string) => string | number
}

/** The value of a setting without a given value and without a default. */
export type OptionalSetting<T> = Setting<T | undefined>

export const KB = 1024
export const MB = 1024 * 1024

/** Replaces every secret. */
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
  /** Number of the value's units in one unit of the variable: 1,024 for KB if the value is in bytes. Default 1. */
  readonly factor?: number
  /** The meaning of 0, if it is special. */
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

/** A whole number that is computed if it is not given. */
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
