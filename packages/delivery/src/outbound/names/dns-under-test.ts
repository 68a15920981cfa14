import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

/** Per name, what the server says: addresses, that there are none, that it is in trouble, or nothing at all. */
export type Zone = Record<string, readonly string[] | 'missing' | 'trouble' | 'silent' | 'silent for IPv6'>

/** A name server on loopback that speaks the wire format of RFC 1035, for A and AAAA alone. */
export class NameServer implements AsyncDisposable {
  /** `A name` or `AAAA name`, as they came. */
  readonly questions: string[] = []
  ttlSeconds = 60
  readonly zone: Zone
  readonly #socket = createSocket('udp4')
  #onQuestion = () => {}

  static async start(zone: Zone): Promise<NameServer> {
    const server = new NameServer(zone)
    server.#socket.bind(0, '127.0.0.1')
    await once(server.#socket, 'listening')
    return server
  }

  private constructor(zone: Zone) {
    this.zone = zone
    this.#socket.on('message', (message, from) => this.#answer(message, from))
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`
  }

  /** Until so many questions have come. */
  async asked(count: number): Promise<void> {
    while (this.questions.length < count) {
      await new Promise<void>((resolve) => {
        this.#onQuestion = resolve
      })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(resolve))
  }

  #answer(message: Buffer, from: RemoteInfo): void {
    const labels: string[] = []
    let at = HEADER_BYTES
    while (message[at] !== 0) {
      const end = at + 1 + message[at]!
      labels.push(message.toString('latin1', at + 1, end))
      at = end
    }
    const name = labels.join('.').toLowerCase()
    const isIPv6 = message.readUInt16BE(at + 1) === AAAA
    this.questions.push(`${isIPv6 ? 'AAAA' : 'A'} ${name}`)
    this.#onQuestion()
    const said = this.zone[name] ?? 'missing'
    if (said === 'silent' || (said === 'silent for IPv6' && isIPv6)) return
    const given = said === 'silent for IPv6' ? ['192.0.2.1'] : typeof said === 'string' ? [] : said
    const records = given.filter((address) => address.includes(':') === isIPv6).map((each) => this.#record(each))
    const answer = Buffer.concat([message.subarray(0, at + 5), ...records])
    answer[2] = 0x81
    answer[3] = 0x80 | (said === 'missing' ? NXDOMAIN : said === 'trouble' ? SERVFAIL : 0)
    answer.writeUInt16BE(records.length, 6)
    answer.writeUInt32BE(0, 8)
    this.#socket.send(answer, from.port, from.address)
  }

  #record(address: string): Buffer {
    const bytes = address.includes(':') ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number))
    const head = Buffer.alloc(12)
    // The name of the question.
    head.writeUInt16BE(0xc000 + HEADER_BYTES, 0)
    head.writeUInt16BE(bytes.length === 16 ? AAAA : A, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt32BE(this.ttlSeconds, 6)
    head.writeUInt16BE(bytes.length, 10)
    return Buffer.concat([head, bytes])
  }
}

const HEADER_BYTES = 12
const A = 1
const AAAA = 28
const NXDOMAIN = 3
const SERVFAIL = 2

function ipv6Bytes(address: string): Buffer {
  const [before = '', after = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [head, tail] = [groups(before), groups(after)]
  const all = [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
