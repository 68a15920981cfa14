import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ManualClock } from '@millrace/std'
import { afterEach, expect, test } from 'vitest'
import { NameServer, type Zone } from './dns-under-test.ts'
import { HostNames, type Lookup } from './host-names.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** Names over a real name server, with files of their own and a clock that stands. */
async function open(zone: Zone, text: { hosts?: string; resolvConf?: string } = {}, families: (4 | 6)[] = [4]) {
  const server = await NameServer.start(zone)
  const folder = await mkdtemp(path.join(tmpdir(), 'names-'))
  const files = { hosts: path.join(folder, 'hosts'), resolvConf: path.join(folder, 'resolv.conf') }
  await writeFile(files.hosts, text.hosts ?? '')
  await writeFile(files.resolvConf, text.resolvConf ?? 'search .')
  const clock = new ManualClock(0)
  const names = new HostNames({ clock, servers: [server.address], files, families })
  endings.push(() => rm(folder, { recursive: true }))
  endings.push(() => server[Symbol.asyncDispose]())
  endings.push(() => names.close())
  return { server, clock, names, files, find: finding(names.forDestination()) }
}

/** @returns asks for a name: its addresses, or the code of the error. */
function finding(lookup: Lookup) {
  return (hostname: string, isConfigured = true) =>
    new Promise<string>((resolve) => {
      const tell = (error: NodeJS.ErrnoException | null, addresses: readonly { address: string }[]) =>
        resolve(error?.code ?? addresses.map(({ address }) => address).join(' '))
      lookup(hostname, tell, isConfigured)
    })
}

test('a name has its addresses of both families, IPv4 first', async () => {
  const { find } = await open({ 'hook.test': ['2001:4860::8', '192.0.2.1', '192.0.2.2'] }, {}, [6, 4])
  expect(await find('hook.test')).toBe('192.0.2.1 192.0.2.2 2001:4860::8')
})

test('only families are asked for by which this machine could reach others', async () => {
  const { find, server } = await open({ 'hook.test': ['192.0.2.1'] }, {}, [4])
  await find('hook.test')
  expect(server.questions).toEqual(['A hook.test'])
})

test.each([
  ['a name that does not exist', 'missing', 'ENOTFOUND'],
  ['a name without an address', [], 'ENOTFOUND'],
  ['a server in trouble', 'trouble', 'EAI_AGAIN'],
] as const)('%s ends with an error', async (_, said, code) => {
  const { find } = await open({ 'hook.test': said }, {}, [4, 6])
  expect(await find('hook.test')).toBe(code)
})

test.each([`${'a'.repeat(64)}.test`, `${'a.'.repeat(130)}test`, 'a..test'])('%s is no name', async (name) => {
  const { find } = await open({})
  expect(await find(name)).toBe('ENOTFOUND')
})

test('a server that never answers ends after 4 s', async () => {
  const { find, clock, server } = await open({ 'hook.test': 'silent' })
  const found = find('hook.test')
  await server.asked(1)
  await clock.advance(3_999)
  expect(await Promise.race([found, 'waiting'])).toBe('waiting')
  await clock.advance(1)
  expect(await found).toBe('EAI_AGAIN')
})

test('addresses of one family do not wait for a server that is silent about the other', async () => {
  const { find, clock, server } = await open({ 'hook.test': 'silent for IPv6' }, {}, [4, 6])
  const found = find('hook.test')
  await server.asked(2)
  // The answer is on its way through the sockets of this process.
  while ((await Promise.race([found, new Promise((resolve) => setImmediate(resolve, 'waiting'))])) === 'waiting') {
    await clock.advance(250)
    expect(clock.monotonic()).toBeLessThan(4_000)
  }
  expect(await found).toBe('192.0.2.1')
})

test('many connections to one name ask for it once', async () => {
  const { find, server } = await open({ 'hook.test': ['192.0.2.1'] })
  const found = await Promise.all(Array.from({ length: 100 }, () => find('hook.test')))
  expect(new Set(found)).toEqual(new Set(['192.0.2.1']))
  expect(server.questions).toHaveLength(1)
})

test.each([
  { ttlSeconds: 60, keptMs: 60_000 },
  { ttlSeconds: 0, keptMs: 1_000 },
  { ttlSeconds: 86_400, keptMs: 300_000 },
])('an answer with a time to live of $ttlSeconds s is kept for $keptMs ms', async ({ ttlSeconds, keptMs }) => {
  const { find, clock, server } = await open({ 'hook.test': ['192.0.2.1'] })
  server.ttlSeconds = ttlSeconds
  await find('hook.test')
  server.zone['hook.test'] = ['192.0.2.9']
  await clock.advance(keptMs - 1)
  expect(await find('HOOK.test')).toBe('192.0.2.1')
  await clock.advance(1)
  expect(await find('hook.test')).toBe('192.0.2.9')
  expect(server.questions).toHaveLength(2)
})

test.each(['missing', 'trouble', 'silent'] as const)('a failure (%s) is kept for 5 s', async (said) => {
  const { find, clock, server } = await open({ 'hook.test': said })
  const found = find('hook.test')
  if (said === 'silent') {
    await server.asked(1)
    await clock.advance(4_000)
  }
  await found
  server.zone['hook.test'] = ['192.0.2.1']
  await clock.advance(4_999)
  expect(await find('hook.test')).toBe(await found)
  await clock.advance(1)
  expect(await find('hook.test')).toBe('192.0.2.1')
})

test('a destination has at most eight lookups in flight, and others go on beside it', async () => {
  const { names, server, clock } = await open(
    Object.fromEntries([
      ...Array.from({ length: 60 }, (_, i) => [`hang-${i}.test`, 'silent'] as const),
      ['hook.test', ['192.0.2.1']] as const,
    ]),
  )
  const hostile = finding(names.forDestination())
  const results = Array.from({ length: 60 }, (_, i) => hostile(`hang-${i}.test`, false))
  await server.asked(8)
  const other = finding(names.forDestination())
  expect(await other('hook.test', false)).toBe('192.0.2.1')
  expect(await hostile('hook.test', true)).toBe('192.0.2.1')
  expect(server.questions.filter((question) => question.includes('hang'))).toHaveLength(8)
  // The next eight take the places of those that have ended.
  await clock.advance(4_000)
  expect(await Promise.all(results.slice(0, 8))).toEqual(Array(8).fill('EAI_AGAIN'))
  await server.asked(18)
})

test('however many destinations hang, names of configurations and of a further destination are found', async () => {
  const hanging = Array.from({ length: 100 }, (_, i) => `hang-${i}.test`)
  const { names, server } = await open({
    ...Object.fromEntries(hanging.map((name) => [name, 'silent'])),
    'hook.test': ['192.0.2.1'],
  })
  const hostile = Array.from({ length: 10 }, () => finding(names.forDestination()))
  hanging.forEach((name, i) => void hostile[i % 10]!(name, false))
  await server.asked(32)
  expect(await finding(names.forDestination())('hook.test', true)).toBe('192.0.2.1')
  expect(server.questions.filter((question) => question.includes('hang'))).toHaveLength(32)
})

test('of what waits, the destination with least in flight goes first', async () => {
  const hanging = Array.from({ length: 64 }, (_, i) => `hang-${i}.test`)
  const { names, server } = await open({
    ...Object.fromEntries(hanging.map((name) => [name, 'silent'])),
    'hook.test': ['192.0.2.1'],
  })
  const lookups = Array.from({ length: 8 }, () => names.forDestination())
  const takeBack = hanging.map((name, i) => lookups[i % 8]!(name, () => {}, false)!)
  await server.asked(32)
  const found = finding(names.forDestination())('hook.test', false)
  takeBack[0]!()
  expect(await found).toBe('192.0.2.1')
})

test('a lookup that is taken back leaves its place, and nobody hears of it', async () => {
  const { names, server } = await open({ 'hang.test': 'silent', 'hook.test': ['192.0.2.1'] })
  const lookup = names.forDestination()
  const heard: string[] = []
  const takeBacks = Array.from({ length: 8 }, (_, i) => lookup(`hang-${i}.test`, () => heard.push('hung'), false)!)
  lookup('hang.test', () => heard.push('hung'), false)!()
  for (const takeBack of takeBacks) takeBack()
  expect(await finding(lookup)('hook.test', false)).toBe('192.0.2.1')
  expect(heard).toEqual([])
  expect(server.questions).not.toContain('A hang.test')
})

test('one of two who wait for a name may leave', async () => {
  const { names } = await open({ 'hook.test': ['192.0.2.1'] })
  const lookup = names.forDestination()
  lookup('hook.test', () => expect.unreachable(), true)!()
  const found = finding(lookup)('hook.test')
  lookup('hook.test', () => expect.unreachable(), true)!()
  expect(await found).toBe('192.0.2.1')
})

test('too many names that wait are not resolved', async () => {
  const { names, server } = await open({})
  for (let i = 0; i < 8 + 256; i++) server.zone[`hang-${i}.test`] = 'silent'
  const find = finding(names.forDestination())
  for (let i = 0; i < 8 + 256; i++) void find(`hang-${i}.test`, false)
  expect(await find('hook.test', false)).toBe('EAI_AGAIN')
  await server.asked(8)
})

test.each([
  { name: 'crm', resolvConf: 'search a.test b.test', asked: ['crm.a.test', 'crm.b.test'], found: '192.0.2.1' },
  { name: 'crm.b.test', resolvConf: 'search a.test', asked: ['crm.b.test'], found: '192.0.2.1' },
  {
    name: 'crm.b.test',
    resolvConf: 'search a.test\noptions timeout:1 ndots:5',
    asked: ['crm.b.test.a.test', 'crm.b.test'],
    found: '192.0.2.1',
  },
  { name: 'crm.b', resolvConf: 'domain test # here', asked: ['crm.b', 'crm.b.test'], found: '192.0.2.1' },
  { name: 'crm.b.test.', resolvConf: 'search a.test\noptions ndots:9', asked: ['crm.b.test'], found: '192.0.2.1' },
  { name: 'none', resolvConf: 'domain c.test\nsearch a.test', asked: ['none.a.test', 'none'], found: 'ENOTFOUND' },
])('a configured $name is completed by "$resolvConf"', async ({ name, resolvConf, asked, found }) => {
  const { find, server } = await open({ 'crm.b.test': ['192.0.2.1'] }, { resolvConf })
  expect(await find(name)).toBe(found)
  expect(server.questions).toEqual(asked.map((each) => `A ${each}`))
})

test('a name from an event is never completed', async () => {
  const { find, server } = await open({ 'crm.a.test': ['192.0.2.1'] }, { resolvConf: 'search a.test\noptions ndots:5' })
  expect(await find('crm', false)).toBe('ENOTFOUND')
  expect(server.questions).toEqual(['A crm'])
})

test('the hosts file goes first, and takes effect again once it has changed', async () => {
  const hosts = '# this machine\n192.0.2.7\tcrm.test CRM # ours\n2001:db8::7 crm.test\nnonsense crm.test\n'
  const { find, files, clock, server } = await open({}, { hosts })
  expect(await find('crm.test')).toBe('192.0.2.7 2001:db8::7')
  expect(await find('Crm', false)).toBe('192.0.2.7')
  await writeFile(files.hosts, '192.0.2.70 crm.test')
  await utimes(files.hosts, 1, 1)
  await clock.advance(1_000)
  expect(await find('crm.test.')).toBe('192.0.2.70')
  await rm(files.hosts)
  await clock.advance(1_000)
  expect(await find('crm.test')).toBe('ENOTFOUND')
  expect(server.questions).toEqual(['A crm.test'])
})

test('localhost is this machine without asking', async () => {
  const { find, server } = await open({ localhost: ['192.0.2.1'] })
  expect(await find('localhost', false)).toBe('127.0.0.1 ::1')
  expect(await find('inbox.localhost')).toBe('127.0.0.1 ::1')
  expect(server.questions).toEqual([])
})
