import { afterEach, expect, test, vi } from 'vitest'
import { GUARD } from './guard.ts'
import { pageHost } from './page-host.ts'

afterEach(() => vi.unstubAllGlobals())

test('an app with a native part waits for cordova.js also where that is loaded after the app; a page does not', () => {
  const stored = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  })
  expect(pageHost().onDeviceReady).toBeUndefined()
  stored.set(GUARD, '{"tracking":"enabled"}')
  expect(pageHost().onDeviceReady).toBeUndefined()
  expect(pageHost().guard('native')).toBe('native')
  expect(pageHost().onDeviceReady).toBeTypeOf('function')
})

test('a page without localStorage has no guard, and no native part is known of it', () => {
  vi.stubGlobal('localStorage', undefined)
  expect(pageHost().guard('native')).toBeNull()
  expect(pageHost().onDeviceReady).toBeUndefined()
})
