import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { Front } from './front.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/**
 * Sends bytes on one connection, and closes its sending half if `closes`.
 *
 * @returns the status and body of each answer, when the server has closed the connection.
 */
async function answersTo(
  front: Front,
  bytes: string,
  count: number,
  answer: (responses: ServerResponse[]) => void,
  { closes = false } = {},
) {
  const responses: ServerResponse[] = []
  front.serve((_, response) => {
    if (responses.push(response) === count) setImmediate(() => answer(responses))
  })
  let text = ''
  const socket = connect(front.address.port, '127.0.0.1', () => (closes ? socket.end(bytes) : socket.write(bytes)))
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) .*?\r\n\r\n(.*?)(?=HTTP\/1\.1|$)/gs)].map((match) => match.slice(1))
}

test('a request that cannot be read is answered after the requests before it on its connection', async () => {
  await using front = await Front.listen('127.0.0.1', 0)
  const answers = await answersTo(front, `${request('/a')}${request('/b')}garbage\r\n\r\n`, 2, ([a, b]) => {
    b!.setHeader('Content-Length', 1).end('b')
    a!.setHeader('Content-Length', 1).end('a')
  })
  expect(answers).toEqual([
    ['200', 'a'],
    ['200', 'b'],
    ['400', 'Bad Request'],
  ])
})

test('a request whose body cannot be read is answered at once, although its own answer is open', async () => {
  await using front = await Front.listen('127.0.0.1', 0)
  const head = 'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  expect(await answersTo(front, `${head}zz\r\n`, 1, () => {})).toEqual([['400', 'Bad Request']])
})

test('a client that closes its sending half behind its requests gets their answers, in order', async () => {
  await using front = await Front.listen('127.0.0.1', 0)
  const later = ([a, b]: ServerResponse[]) =>
    setTimeout(() => {
      b!.setHeader('Content-Length', 1).end('b')
      a!.setHeader('Content-Length', 1).end('a')
    }, 50)
  const bytes = `${request('/a')}${request('/b')}`
  expect(await answersTo(front, bytes, 2, later, { closes: true })).toEqual([
    ['200', 'a'],
    ['200', 'b'],
  ])
})

test('a client that closes its sending half within a request gets 400', async () => {
  await using front = await Front.listen('127.0.0.1', 0)
  const head = 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n'
  expect(await answersTo(front, `${head}ab`, 1, () => {}, { closes: true })).toEqual([['400', 'Bad Request']])
})

test('a target that names its host is read as its path and query', async () => {
  await using front = await Front.listen('127.0.0.1', 0)
  const seen: (string | undefined)[] = []
  const targets = ['http://x/a?b=c', 'HTTPS://x:8080/a', 'http://x', 'http://x?b', '/http://x', '*']
  const answer = (responses: ServerResponse[]) => {
    for (const response of responses) {
      seen.push(response.req.url)
      response.setHeader('Content-Length', 0).end()
    }
  }
  await answersTo(front, targets.map(request).join(''), targets.length, answer, { closes: true })
  expect(seen).toEqual(['/a?b=c', '/a', '/', '/?b', '/http://x', '*'])
})

const HOSTS: readonly (readonly [fields: string, status: string])[] = [
  ['Host: x\r\n', '200'],
  ['Host: x\r\nHosts: y\r\nX-Host: z\r\n', '200'],
  ['Host: x\r\nHost: y\r\n', '400'],
  ['Host: x\r\nAccept: */*\r\nhOST: x\r\n', '400'],
  ['', '400'],
]

test.each(HOSTS)('a request that does not have exactly one Host field gets 400: %j %s', async (fields, status) => {
  await using front = await Front.listen('127.0.0.1', 0)
  const bytes = `GET /a HTTP/1.1\r\n${fields}\r\n`
  const answer = ([response]: ServerResponse[]) => response!.setHeader('Content-Length', 0).end()
  const answers = await answersTo(front, bytes, 1, answer, { closes: true })
  expect(answers.map(([got]) => got)).toEqual([status])
})

test('a request with two Host fields reaches no handler, and those behind it on the connection do', async () => {
  await using front = await Front.listen('127.0.0.1', 0)
  const twice = 'POST /a HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: 2\r\n\r\n{}'
  const answer = ([response]: ServerResponse[]) => response!.setHeader('Content-Length', 2).end(response!.req.url)
  expect(await answersTo(front, `${twice}${request('/b')}`, 1, answer, { closes: true })).toEqual([
    ['400', 'Bad Request'],
    ['200', '/b'],
  ])
})
