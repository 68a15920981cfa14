import { expect } from 'vitest'
import type { EngineSettings } from '../core/bridge.ts'
import type { Device } from './device.ts'
import { bodyOf, namesOf, type Scenario, type Step, standardSettings } from './scenario.ts'
import type { ScenarioServer } from './scenario-server.ts'

const UNTOLD = ['hello', 'log', 'network']

/** Plays one scenario on a device. @throws what `expect` throws, naming the step. */
export async function runScenario(scenario: Scenario, device: Device, server: ScenarioServer): Promise<void> {
  server.reset()
  await device.reset(scenario.random ?? 0)
  const settings = { ...standardSettings(server.url), ...scenario.open }
  for (const [at, step] of scenario.steps.entries()) {
    const name = `${scenario.name}, step ${at + 1}: ${JSON.stringify(step)}`
    await play(step, name, settings, device, server)
  }
}

async function play(
  step: Step,
  name: string,
  settings: EngineSettings,
  device: Device,
  server: ScenarioServer,
): Promise<void> {
  const { bridge } = device
  const matches = (answer: unknown) => {
    if ('expect' in step) expect(answer, name).toMatchObject(step.expect as object)
  }
  switch (step.do) {
    case 'open':
      return matches(await bridge.open({ ...settings, ...step.settings }))
    case 'push': {
      const rows = 'from' in step.rows ? namesOf(step.rows) : step.rows
      return matches(await bridge.push({ rows: rows.map((row) => ({ body: bodyOf(row) })), state: step.state ?? {} }))
    }
    case 'state':
      return matches(await bridge.state(step.set))
    case 'tail':
      return void (await bridge.tail(step.event === null ? null : `"type":"track","event":"${step.event}"}`))
    case 'purge':
      return void (await bridge.purge(step.what))
    case 'drain':
      return matches(await bridge.drain({ force: step.force ?? false }))
    case 'config':
      return matches(await bridge.config(step.etag === undefined ? {} : { etag: step.etag }))
    case 'server':
      return server.follow(step)
    case 'advance':
      return device.advance(step.ms)
    case 'clock':
      return device.moveClock(step.ms)
    case 'network':
      return device.network(step.online)
    case 'stop':
    case 'start':
    case 'kill':
      return device[step.do]()
    case 'delete':
      if (step.store) await device.deleteStore()
      if (step.guard) await device.deleteGuard()
      return
    case 'fault':
      return device.fault(step.storage)
    case 'rows':
      return void expect(await device.rows(), name).toEqual(namesOf(step.events))
    case 'values':
      return expectValues(step.state, await device.values(), name)
    case 'requests': {
      const received = server.received.splice(0)
      for (const each of received) expectWellFormed(each, name)
      const shown = received.map((each, at) => pick(each, Object.keys(step.batches[at] ?? { events: 0 })))
      const wanted = step.batches.map((batch) => ({ ...batch, events: namesOf(batch.events) }))
      return void expect(shown, name).toEqual(wanted)
    }
    case 'signals': {
      const kinds = (await device.signals()).map(({ t }) => t).filter((t) => !UNTOLD.includes(t))
      return void expect(kinds, name).toEqual(step.kinds)
    }
  }
}

function expectWellFormed(batch: ScenarioServer['received'][number], name: string): void {
  expect(batch.contentType, name).toBe('application/json')
  expect(new Set([...batch.sentAtOfEvents, batch.sentAt]).size, name).toBe(1)
  expect(batch.sentAt, name).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(batch.bytes <= 512_000 || batch.events.length === 1, name).toBe(true)
}

function expectValues(wanted: Record<string, string | null>, found: Readonly<Record<string, string>>, name: string) {
  for (const [key, value] of Object.entries(wanted)) {
    if (value === '*') expect(found[key], `${name} ${key}`).toEqual(expect.any(String))
    else expect(found[key] ?? null, `${name} ${key}`).toBe(value)
  }
}

function pick(from: object, members: readonly string[]): object {
  return Object.fromEntries(Object.entries(from).filter(([member]) => members.includes(member)))
}
