import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestApp } from '../testing/test-app.ts'
import { type LifecycleInput, type LifecycleState, lifecycleStep } from './lifecycle.ts'

describe('the machine', () => {
  const inForeground: LifecycleInput = 'ready'
  const inBackground: LifecycleInput = 'ready-hidden'
  const start: LifecycleInput = 'start'
  const stop: LifecycleInput = 'stop'

  test.each([
    ['cold', inForeground, ['install', 'opened'], 'foreground'],
    ['cold', inBackground, [], 'hidden'],
    ['hidden', start, ['install', 'opened'], 'foreground'],
    ['foreground', stop, ['backgrounded'], 'background'],
    ['background', start, ['reopened'], 'foreground'],
    ['foreground', start, [], 'foreground'],
    ['background', stop, [], 'background'],
    ['hidden', stop, [], 'hidden'],
    ['cold', start, [], 'cold'],
    ['cold', stop, [], 'cold'],
  ] as const)('%s, %j emits %j and becomes %s', (state, input, emits, becomes) => {
    expect(lifecycleStep(state, input)).toEqual({ emits, becomes })
  })

  test('no sequence yields two Opened without a Backgrounded between', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(inForeground, inBackground, start, stop), { maxLength: 50 }), (inputs) => {
        let state: LifecycleState = 'cold'
        let isOpen = false
        for (const input of inputs) {
          const { becomes, emits } = lifecycleStep(state, input)
          state = becomes
          for (const emission of emits) {
            if (emission === 'install') continue
            const opens = emission !== 'backgrounded'
            expect(opens).toBe(!isOpen)
            isOpen = opens
          }
        }
      }),
    )
  })
})

describe('the events', () => {
  let app: TestApp
  beforeEach(async () => {
    app = await TestApp.open()
  })
  afterEach(() => app[Symbol.asyncDispose]())

  const start = (version?: string) =>
    app.ready({ trackLifecycleEvents: true, ...(version !== undefined && { app: { version, build: 7 } }) })
  const events = async () => (await app.queued()).map(({ event, properties }) => [event, properties])

  test('a first start sends Installed then Opened; an unchanged build only Opened; a changed one Updated', async () => {
    await start('1.0')
    await app.restart()
    await start('1.0')
    await app.restart()
    await start('2.0')
    expect(await events()).toEqual([
      ['Application Installed', { version: '1.0', build: 7 }],
      ['Application Opened', { from_background: false, version: '1.0' }],
      ['Application Opened', { from_background: false, version: '1.0' }],
      ['Application Updated', { previous_version: '1.0', previous_build: 7, version: '2.0', build: 7 }],
      ['Application Opened', { from_background: false, version: '2.0' }],
    ])
  })

  test('without version and build Installed comes once and Updated never', async () => {
    await start()
    await app.restart()
    await start('1.0')
    await app.restart()
    await start()
    const names = (await events()).map(([name]) => name)
    expect(names.filter((name) => name === 'Application Installed')).toHaveLength(1)
    expect(names.at(-2)).toBe('Application Opened')
  })

  test('leaving and coming back send Backgrounded and Opened from the background', async () => {
    await start()
    app.server.follow({ always: { status: 503 } })
    await app.device.stop()
    await app.device.stop()
    await app.device.start()
    await app.client.track('A')
    expect((await events()).slice(2)).toEqual([
      ['Application Backgrounded', {}],
      ['Application Opened', { from_background: true }],
      ['A', {}],
    ])
  })

  test('a page that is loaded again in an open app sends no other Opened; after the app has left, one is sent', async () => {
    const engine = app.device.bridge
    const { open, tail } = engine
    // As the native engines do.
    let held: string | null = null
    engine.tail = async (text) => {
      held = text
      return await tail.call(engine, text)
    }
    engine.open = async (settings) => {
      const opened = await open.call(engine, settings)
      return { ...opened, launch: { ...opened.launch, opened: held !== null } }
    }
    app.server.follow({ always: { status: 503 } })
    await start('1.0')
    app.reload()
    await start('1.0')
    await app.device.stop()
    held = null
    await app.device.start()
    app.reload()
    await start('1.0')
    expect((await events()).map(([name]) => name)).toEqual([
      'Application Installed',
      'Application Opened',
      'Application Backgrounded',
      'Application Opened',
    ])
  })

  test('an app that starts in the background opens when it comes to the foreground', async () => {
    app.device.isForeground = false
    await start('1.0')
    expect(await events()).toEqual([])
    await app.device.start()
    await app.client.track('A')
    expect((await events()).map(([name]) => name)).toEqual(['Application Installed', 'Application Opened', 'A'])
  })

  test('trackLifecycleEvents false yields none, and the marker is kept all the same', async () => {
    await app.ready({ app: { version: '1.0', build: 7 } })
    await app.device.stop()
    await app.device.start()
    expect(await events()).toEqual([])
    await app.restart()
    await start('1.0')
    expect((await events()).map(([name]) => name)).toEqual(['Application Opened'])
  })

  test('a session starts, times out, restarts on reset, and marks only its first event', async () => {
    await app.ready({ sessionTimeout: 60 })
    const sessions = async () => {
      await app.client.track('A')
      const { sessionId, sessionStart } = (await app.last()).context
      return [sessionId, sessionStart]
    }
    const from = Date.parse('2026-11-20T09:30:00.000Z') / 1000
    expect(await sessions()).toEqual([from, true])
    app.device.clock.advance(59_000)
    expect(await sessions()).toEqual([from, undefined])
    app.device.clock.advance(60_000)
    expect(await sessions()).toEqual([from + 119, true])
    await app.client.reset()
    expect(await sessions()).toEqual([from + 120, true])
    app.device.clock.setBy(-86_400_000)
    expect(await sessions()).toEqual([from + 120, undefined])
    await app.restart()
    await app.ready({ sessionTimeout: 60 })
    expect(await sessions()).toEqual([from + 120, undefined])
  })

  test('Backgrounded carries the session of the latest event and neither starts nor extends one', async () => {
    await app.ready({ sessionTimeout: 60, trackLifecycleEvents: true })
    app.server.follow({ always: { status: 503 } })
    const { sessionId } = (await app.last()).context
    app.device.clock.advance(59_000)
    await app.device.stop()
    expect(await app.last()).toMatchObject({ event: 'Application Backgrounded', context: { sessionId } })
    expect((await app.last()).context.sessionStart).toBeUndefined()
    app.device.clock.advance(1_000)
    await app.device.start()
    await app.client.track('A')
    expect((await app.last()).context.sessionId).toBeGreaterThan(sessionId)
  })

  test('autoSessionTracking false leaves the session members out', async () => {
    await app.ready({ autoSessionTracking: false })
    await app.client.track('A')
    expect((await app.last()).context).not.toHaveProperty('sessionId')
  })
})
