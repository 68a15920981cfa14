import { closeSync, writeSync } from 'node:fs'
import { frame } from '../frames.ts'

const write = (bytes: Buffer | string) => void process.stdout.write(bytes)
const say = (message: object, ...texts: string[]) => write(frame(message, texts))

const SETTLED = {
  kind: 'settled',
  logs: [],
  loggedBy: [],
  loggedFor: [],
  sandboxBytes: 1,
  residentBytes: 1,
}
const settle = (text: string, more: object = {}) => say({ ...SETTLED, ...more }, text)
const honest = (events: number) => frame(SETTLED, [`{}\n${JSON.stringify(Array(events).fill({}))}`])
const request = (headers: object, method: unknown = 'GET') =>
  JSON.stringify({ url: 'http://a.example/', method, headers })

/** Answers of a child process that user code has taken over, by name. Each is given the number of events of the run. */
export const FORGERIES: Readonly<Record<string, (events: number) => void>> = {
  'an owner that is a prototype': (events) => settle(`{"of":["__proto__"]}\n[{"polluted":${events}}]`),
  'an owner that is a constructor': () => settle('{"of":["constructor"]}\n[{}]'),
  'an owner outside of the batch': (events) => settle(`{"of":[${events}]}\n[{}]`),
  'a failure that is no text': () => settle('{"of":[],"errors":[[0,{"a":1}]]}\n[]'),
  'a failure of a prototype': () => settle('{"of":[],"errors":[["__proto__","x"]]}\n[]'),
  'a failure of ten megabytes': () => settle(`{"of":[],"errors":[[0,"${'x'.repeat(1e7)}"]]}\n[]`),
  'outputs that are no objects': (events) => settle(`{}\n[${Array(events).fill('null')}]`),
  'outputs without end': () => settle(`{"of":[${Array(1e6).fill(0)}]}\n[${Array(1e6).fill('{}')}]`),
  'a depth that overflows': (events) => {
    settle(`{"of":[0]}\n[{"a":${'['.repeat(5e5)}${events}${']'.repeat(5e5)}}]`)
  },
  'no step': () => say(SETTLED),
  'a line of a step that is none': () =>
    settle('{"of":[]}\n[]', { logs: ['a'], loggedBy: ['__proto__'], loggedFor: [0] }),
  'memory below nothing': () => settle('{"of":[]}\n[]', { sandboxBytes: -1e308 }),
  'memory that is no number': () => settle('{"of":[]}\n[]', { residentBytes: '1' }),
  'outputs of one event without end': () => settle(`{"of":[${Array(1_001).fill(0)}]}\n[${Array(1_001).fill('{}')}]`),
  'a trouble of its own': () => say({ ...SETTLED, trouble: '__proto__' }),
  'the answer to another question': () => say({ kind: 'checked', result: { ok: true, imports: [] } }),
  'a second start': () => say({ kind: 'ready' }),
  'needs for ever': () => say({ kind: 'needs', code: true, credentials: 1 }),
  'a kind that is a prototype': () => say({ kind: '__proto__' }),
  'a request that is no text': () => say({ kind: 'waits', ids: [1] }, request({}, { toUpperCase: 1 })),
  'a request with hostile headers': () => say({ kind: 'waits', ids: [1] }, request({ a: { b: 1 } })),
  'the same request twice': () => say({ kind: 'waits', ids: [1, 1] }, request({}), request({})),
  'requests without end': () => {
    const ids = Array.from({ length: 1e5 }, (_, n) => n + 1)
    say({ kind: 'waits', ids })
  },
  'a wait for nothing': () => say({ kind: 'waits', ids: [] }),
  'a wait for nothing, again and again': () => void setInterval(() => say({ kind: 'waits', ids: [] }), 1),
  'two replies': (events) => write(Buffer.concat([honest(events), honest(events)])),
  'a reply and the beginning of another': (events) => write(Buffer.concat([honest(events), Buffer.from([9])])),
  'half a reply': (events) => write(honest(events).subarray(0, 20)),
  'a frame of four gigabytes': () => write(Buffer.alloc(4, 0xff)),
  'a frame of no texts': () => write(Buffer.alloc(8)),
  'texts that overlap': () => write(Buffer.from([12, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255])),
  noise: () => write(Buffer.from(Array.from({ length: 4_096 }, (_, n) => (n * 97 + 13) % 256))),
  'noise without end': () => {
    for (;;) writeSync(1, Buffer.alloc(65_536, 1))
  },
  'errors without end': () => {
    for (;;) writeSync(2, Buffer.alloc(65_536, 0x78))
  },
  silence: () => {},
  'a loop': () => {
    for (;;);
  },
  'a closed pipe': () => {
    closeSync(1)
    for (;;);
  },
  'an end': () => process.exit(0),
  'an end of its own kind': () => process.kill(process.pid, 'SIGSEGV'),
}
