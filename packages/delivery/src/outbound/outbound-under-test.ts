import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { systemClock } from '@millrace/std'
import { EgressRules, type EgressRulesOptions } from './egress-rules.ts'
import { HostNames, type Lookup } from './names/host-names.ts'
import { OutboundClient, type OutboundClientOptions } from './outbound-client.ts'
import type { OutboundRequest, OutboundResult } from './outbound-request.ts'

const endings: (() => unknown)[] = []

/** For `afterEach`: closes what the test opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(endings.splice(0).map((end) => end()))
}

export function whenDone(end: () => unknown): void {
  endings.push(end)
}

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A destination on loopback that keeps what it receives. */
export class Receiver {
  readonly received: Received[] = []
  readonly sockets: Socket[] = []
  port = 0

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }
}

type Respond = (request: Received, response: ServerResponse) => void

export async function startReceiver(respond: Respond = (_, response) => response.end()): Promise<Receiver> {
  const receiver = new Receiver()
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const received = { method: request.method!, path: request.url!, headers: request.headers, body }
      receiver.received.push(received)
      respond(received, response)
    })
  })
  server.on('connection', (socket) => receiver.sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  receiver.port = (server.address() as AddressInfo).port
  whenDone(() => {
    server.closeAllConnections()
    server.close()
  })
  return receiver
}

/** A server that speaks no HTTP by itself. */
export async function startTcp(onSocket: (socket: Socket) => void): Promise<{ port: number; origin: string }> {
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  whenDone(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, origin: `http://127.0.0.1:${port}` }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Rules under which tests can reach each other, unless they say otherwise. */
export const OPEN: EgressRulesOptions = { allow: '127.0.0.1', deny: undefined, listenHost: '127.0.0.1' }
/** As after the first start: nothing set, listening on loopback. */
export const BY_DEFAULT: EgressRulesOptions = { allow: undefined, deny: undefined, listenHost: '127.0.0.1' }

const names = new HostNames({ clock: systemClock })

export function openClient(
  options: Partial<Omit<OutboundClientOptions, 'rules'>> & { rules?: EgressRulesOptions } = {},
): OutboundClient {
  const client = new OutboundClient({
    clock: systemClock,
    lookup: names.forDestination(),
    ...options,
    rules: new EgressRules(options.rules ?? OPEN),
  })
  whenDone(() => client.close())
  return client
}

export function send(client: OutboundClient, url: string, request: Partial<OutboundRequest> = {}) {
  return new Promise<OutboundResult>((resolve) => {
    client.send({ ...requestTo(url), ...request }, resolve)
  })
}

export function requestTo(url: string): OutboundRequest {
  return { method: 'POST', url, headers: {}, body: '{"a":1}', secretHeaders: [], configuredOrigin: undefined }
}

/** Every name has these addresses; each question for them is counted. */
export function lookupOf(...answers: (string[] | NodeJS.ErrnoException)[]): Lookup & { count: number } {
  const resolve: Lookup & { count: number } = Object.assign(
    (_: string, onFound: Parameters<Lookup>[1]) => {
      const answer = answers[Math.min(resolve.count++, answers.length - 1)]!
      if (answer instanceof Error) setImmediate(onFound, answer, [])
      else
        setImmediate(
          onFound,
          null,
          answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      return undefined
    },
    { count: 0 },
  )
  return resolve
}

/** What a result says, without its duration. */
export function essence(result: OutboundResult): string {
  switch (result.kind) {
    case 'answer':
      return `answer ${result.status} ${result.text}`.trimEnd()
    case 'aborted':
      return 'aborted'
    default:
      return `${result.kind} ${result.status} ${result.text}`
  }
}
