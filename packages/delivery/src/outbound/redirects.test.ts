import { afterEach, expect, test } from 'vitest'
import { BLOCKED_TEXT } from './failures.ts'
import { closeAll, essence, OPEN, openClient, send, startReceiver } from './outbound-under-test.ts'

afterEach(closeAll)

test.each([
  { method: 'GET', follows: [301, 302, 303, 307, 308] },
  { method: 'POST', follows: [307, 308] },
  { method: 'PUT', follows: [307, 308] },
  { method: 'DELETE', follows: [307, 308] },
  { method: 'HEAD', follows: [307, 308] },
])('$method follows $follows, with method and body kept', async ({ method, follows }) => {
  const receiver = await startReceiver(({ path }, response) => {
    const status = Number(path.slice(1))
    response.writeHead(status, status < 300 ? {} : { location: '200' }).end()
  })
  const client = openClient()
  for (const status of [300, 301, 302, 303, 304, 305, 307, 308]) {
    receiver.received.length = 0
    const body = method === 'HEAD' ? '' : 'kept'
    const result = await send(client, `${receiver.origin}/${status}`, { method, body, headers: { 'x-a': '1' } })
    expect(essence(result)).toBe(`answer ${follows.includes(status) ? 200 : status}`)
    const paths = follows.includes(status) ? [`/${status}`, '/200'] : [`/${status}`]
    expect(receiver.received).toMatchObject(paths.map((path) => ({ method, path, body, headers: { 'x-a': '1' } })))
  }
})

test('five redirects are followed, the sixth is the answer', async () => {
  const receiver = await startReceiver(({ path }, response) => {
    const left = Number(path.slice(1))
    response.writeHead(left === 0 ? 204 : 308, left === 0 ? {} : { location: `/${left - 1}` }).end('on and on')
  })
  const client = openClient()
  expect(essence(await send(client, `${receiver.origin}/5`))).toBe('answer 204')
  receiver.received.length = 0
  expect(await send(client, `${receiver.origin}/6`)).toMatchObject({ kind: 'answer', status: 308 })
  expect(receiver.received).toHaveLength(6)
})

test('a redirect in a loop ends', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(307, { location: '/' }).end())
  expect(essence(await send(openClient(), receiver.origin))).toBe('answer 307')
  expect(receiver.received).toHaveLength(6)
})

test.each([undefined, '', 'http://', 'ftp://files.test/', 'javascript:alert(1)'])(
  'a redirect to "%s" is the answer',
  async (location) => {
    const receiver = await startReceiver((_, response) => {
      response.writeHead(302, location === undefined ? {} : { location }).end()
    })
    const result = await send(openClient(), `${receiver.origin}/`, { method: 'GET', body: '' })
    expect(essence(result)).toBe('answer 302')
  },
)

test('secrets stay with the origin, also on the way back', async () => {
  const other = await startReceiver((_, response) => {
    response.writeHead(307, { location: `${first.origin}/back` }).end()
  })
  const first = await startReceiver(({ path }, response) => {
    const location = path === '/same' ? '/away' : other.origin
    response.writeHead(path === '/back' ? 200 : 307, path === '/back' ? {} : { location }).end()
  })
  const headers = {
    'content-type': 'application/json',
    'X-Plain': 'p',
    'X-Api-Key': 'secret',
    Authorization: 'Bearer secret',
    Cookie: 'secret',
  }
  const result = await send(openClient(), `${first.origin}/same`, { headers, secretHeaders: ['x-api-key'] })
  expect(essence(result)).toBe('answer 200')
  const [same, away, back] = first.received
  for (const { headers } of [same!, away!]) {
    expect(headers).toMatchObject({ 'x-api-key': 'secret', authorization: 'Bearer secret', cookie: 'secret' })
  }
  for (const { headers, body } of [other.received[0]!, back!]) {
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-plain': 'p' })
    expect(JSON.stringify(headers)).not.toContain('secret')
    expect(body).toBe('{"a":1}')
  }
})

test('user and password of the URL are sent to its origin only', async () => {
  const other = await startReceiver()
  const receiver = await startReceiver(({ path }, response) => {
    const location = path === '/same' ? '/away' : `http://eve:eve@127.0.0.1:${other.port}/`
    response.writeHead(307, { location }).end()
  })
  const client = openClient()
  await send(client, `http://ada:p%40ss@127.0.0.1:${receiver.port}/same`)
  const basic = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`
  expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual([basic, basic])
  expect(other.received.map(({ headers }) => headers.authorization)).toEqual([undefined])
  await send(client, `http://ada@127.0.0.1:${other.port}/`, { headers: { AUTHORIZATION: 'Bearer own' } })
  expect(other.received[1]!.headers.authorization).toBe('Bearer own')
})

test('each hop is judged', async () => {
  const receiver = await startReceiver(({ path }, response) => {
    response.writeHead(307, { location: decodeURIComponent(path.slice(1)) }).end()
  })
  const client = openClient({ rules: OPEN })
  for (const location of ['http://10.0.0.1/', 'http://0xa9fea9fe/', '//[::ffff:10.0.0.1]/', 'https://192.168.1.1/']) {
    const result = await send(client, `${receiver.origin}/${encodeURIComponent(location)}`)
    expect(essence(result), location).toBe(`refused 403 ${BLOCKED_TEXT}`)
  }
})

test('a redirect whose body is too long, or breaks off, is followed', async () => {
  const receiver = await startReceiver(({ path }, response) => {
    if (path === '/end') {
      response.end()
    } else if (path === '/long') {
      response.writeHead(307, { location: '/end' }).end('x'.repeat(1_000_000))
    } else {
      response.writeHead(307, { location: '/end', 'content-length': '10' })
      response.write('x')
      response.socket!.end()
    }
  })
  const client = openClient()
  expect(essence(await send(client, `${receiver.origin}/long`))).toBe('answer 200')
  expect(essence(await send(client, `${receiver.origin}/broken`))).toBe('answer 200')
})
