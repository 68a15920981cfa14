import { expect, test } from 'vitest'
import { nextAfterSignIn } from './next-after-sign-in.ts'

test.each(['/ui/sources?q=cinema', '/ui/events/m-1%2F2?event=x#top', '/ui/'])('%s is gone to', (next) =>
  expect(nextAfterSignIn(next)).toBe(next),
)

test.each([
  [undefined],
  [''],
  ['/'],
  ['/v2/sources'],
  ['/uix'],
  ['//evil.example/ui/'],
  ['https://evil.example/ui/'],
  ['/ui/../v2/me'],
  ['/ui/..//evil.example'],
  ['/ui/%2e%2e/docs'],
  ['\\\\evil.example'],
  ['javascript:alert(1)'],
  ['/ui/sign-in?next=/ui/'],
])('%s is not: the home page is', (next) => expect(nextAfterSignIn(next)).toBe('/ui/'))
