import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { DemoProxy, PATHS_OF_GATEWAYS } from './demo-proxy.ts'
import { DemoServer } from './demo-server.ts'

const CONTRACT = path.join(import.meta.dirname, '../../../../../docs/contracts/cluster.md')

test('the paths of clients are those of the contract', () => {
  const line = /^A load balancer sends (.*) to gateways/m.exec(readFileSync(CONTRACT, 'utf8'))![1]!
  expect(PATHS_OF_GATEWAYS).toEqual([...line.matchAll(/`([^`]+)`/g)].map(([, prefix]) => prefix))
})

test('clients reach the gateways in turn, all other requests the control process; a gateway that is away is skipped', async () => {
  const named = (name: string) => DemoServer.start((_request, answer) => answer.end(name))
  await using one = await named('one')
  await using control = await named('control')
  await using proxy = await DemoProxy.start()
  const at = async (target: string) => (await fetch(`${proxy.url}${target}`)).text()
  expect(await at('/v1/track')).toBe('No process of the demonstration answers\n')
  {
    await using two = await named('two')
    proxy.sendTo([one.url, two.url], control.url)
    expect(new Set([await at('/v1/track'), await at('/sourceConfig?p=web')])).toEqual(new Set(['one', 'two']))
    expect([await at('/v2/sources'), await at('/v1'), await at('/sourceConfigs')]).toEqual(Array(3).fill('control'))
  }
  expect([await at('/v1/track'), await at('/hooks/shop')]).toEqual(['one', 'one'])
})
