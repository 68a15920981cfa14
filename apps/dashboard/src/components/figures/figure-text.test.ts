import { expect, it } from 'vitest'
import { bytesText, rateText, shortNumber } from './figure-text.ts'

it.each([
  [0, '0'],
  [0.44, '0.4'],
  [12, '12'],
  [9999, '9,999'],
  [12_480, '12.4k'],
  [999_499, '999k'],
  [3_190_000, '3.1M'],
])('%d is %s', (value, text) => expect(shortNumber(value)).toBe(text))

it.each([
  [null, '–'],
  [0, '0'],
  [12.44, '12.4/s'],
  [1.5, '1.5/s'],
  [1.534, '1.53/s'],
  [0.05, '3/min'],
  [0.001, '3.6/h'],
])('%s events a second are %s', (value, text) => expect(rateText(value)).toBe(text))

it.each([
  [512, '512 B'],
  [32_768, '32.7 KB'],
  [73_400_320, '73.4 MB'],
  [256_000_000_000, '256 GB'],
])('%i bytes are %s', (value, text) => expect(bytesText(value)).toBe(text))
