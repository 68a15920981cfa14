import { afterEach, describe, expect, test } from 'vitest'
import { BLOCKED_TEXT } from './failures.ts'
import {
  BY_DEFAULT,
  closeAll,
  essence,
  lookupOf,
  OPEN,
  openClient,
  send,
  startReceiver,
} from './outbound-under-test.ts'

afterEach(closeAll)

const REFUSED = `refused 403 ${BLOCKED_TEXT}`

describe('the guard', () => {
  test('refuses loopback in every notation, and nothing arrives', async () => {
    const receiver = await startReceiver()
    const client = openClient({ rules: { ...BY_DEFAULT, listenHost: '0.0.0.0' } })
    for (const host of ['127.0.0.1', '0x7f.1', '2130706433', '0177.1', '127.1', '[::ffff:127.0.0.1]', 'localhost']) {
      const url = `http://${host}:${receiver.port}/`
      expect(essence(await send(client, url, { configuredOrigin: new URL(url).origin })), host).toBe(REFUSED)
    }
    expect(receiver.sockets).toEqual([])
  })

  test('says why it refused', async () => {
    const client = openClient({ rules: { ...BY_DEFAULT, deny: 'bad.example' }, lookup: lookupOf(['10.0.0.1']) })
    expect(await send(client, 'http://2130706433/')).toMatchObject({
      refusal: { reason: 'literal address', address: '127.0.0.1' },
    })
    expect(await send(client, 'http://hook.test/')).toMatchObject({
      refusal: { reason: 'resolved address', hostname: 'hook.test', address: '10.0.0.1' },
    })
    expect(await send(client, 'http://bad.example/')).toMatchObject({
      refusal: { reason: 'denied host', hostname: 'bad.example' },
    })
  })

  test('refuses a name with one private address among public ones', async () => {
    const receiver = await startReceiver()
    const client = openClient({ lookup: lookupOf(['127.0.0.1', '10.0.0.1']) })
    expect(essence(await send(client, `http://hook.test:${receiver.port}/`))).toBe(REFUSED)
    expect(receiver.sockets).toEqual([])
  })

  test('resolves once per connection and goes to the judged address; a rebound name is refused', async () => {
    const receiver = await startReceiver((_, response) => response.writeHead(200, { connection: 'close' }).end())
    const lookup = lookupOf(['127.0.0.1'], ['10.0.0.1'])
    const client = openClient({ lookup })
    const url = `http://hook.test:${receiver.port}/`
    expect(essence(await send(client, url))).toBe('answer 200')
    expect(lookup.count).toBe(1)
    expect(essence(await send(client, url))).toBe(REFUSED)
    expect(lookup.count).toBe(2)
    expect(receiver.received).toHaveLength(1)
  })

  test('tries the next of the judged addresses when one does not answer', async () => {
    const receiver = await startReceiver()
    const rules = { ...OPEN, allow: '127.0.0.0/8,::1' }
    const client = openClient({ rules, lookup: lookupOf(['::1', '127.0.0.1']) })
    expect(essence(await send(client, `http://hook.test:${receiver.port}/`))).toBe('answer 200')
  })
})

describe('loopback by default', () => {
  test('is open for the configured origin, whatever the path, and for no other', async () => {
    const [configured, other] = [await startReceiver(), await startReceiver()]
    const client = openClient({ rules: BY_DEFAULT })
    const configuredOrigin = configured.origin
    expect(essence(await send(client, `${configured.origin}/from/an/event`, { configuredOrigin }))).toBe('answer 200')
    expect(essence(await send(client, other.origin, { configuredOrigin }))).toBe(REFUSED)
    expect(essence(await send(client, configured.origin.replace('127.0.0.1', 'localhost'), { configuredOrigin }))).toBe(
      REFUSED,
    )
    expect(other.sockets).toEqual([])
  })

  test('a kept connection does not serve a request that nobody configured', async () => {
    const receiver = await startReceiver()
    const client = openClient({ rules: BY_DEFAULT, connections: 1 })
    expect(essence(await send(client, receiver.origin, { configuredOrigin: receiver.origin }))).toBe('answer 200')
    expect(essence(await send(client, receiver.origin, { configuredOrigin: undefined }))).toBe(REFUSED)
    expect(essence(await send(client, receiver.origin, { configuredOrigin: receiver.origin }))).toBe('answer 200')
    expect(receiver.sockets).toHaveLength(1)
  })

  test('is open for a configured name that leads there', async () => {
    const receiver = await startReceiver()
    const client = openClient({ rules: BY_DEFAULT, lookup: lookupOf(['::1', '127.0.0.1']) })
    const url = `http://localhost:${receiver.port}/`
    expect(essence(await send(client, url, { configuredOrigin: url.slice(0, -1) }))).toBe('answer 200')
  })

  test('a redirect reaches the configured origin itself, but no other place on loopback', async () => {
    const other = await startReceiver()
    const receiver = await startReceiver(({ path }, response) => {
      const location = path === '/out' ? other.origin : path === '/in' ? '/here' : undefined
      response.writeHead(location ? 307 : 200, location ? { location } : {}).end()
    })
    const client = openClient({ rules: BY_DEFAULT })
    const configuredOrigin = receiver.origin
    expect(essence(await send(client, `${receiver.origin}/in`, { configuredOrigin }))).toBe('answer 200')
    expect(essence(await send(client, `${receiver.origin}/out`, { configuredOrigin }))).toBe(REFUSED)
    expect(other.sockets).toEqual([])
  })
})
