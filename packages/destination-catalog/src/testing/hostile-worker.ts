import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { enableCompileCache } from 'node:module'
import net from 'node:net'
import process from 'node:process'
import tls from 'node:tls'
import vm from 'node:vm'
import { Worker, workerData } from 'node:worker_threads'
import type { DefinitionRun } from '../guest/guest-run.ts'
import { serve } from '../guest/serve.ts'
import type { GuestRun, MappingEnd } from '../messages.ts'

/* A guest whose actions do what destination code must not. See isolation.chaos.test.ts. */

const { packagesFolder } = workerData as { packagesFolder: string }

const ACTIONS: Readonly<Record<string, (code: DefinitionRun) => unknown>> = {
  socket: () => new net.Socket().connect(80, '127.0.0.1'),
  tls: () => tls.connect(443, '127.0.0.1'),
  http: () => http.request('http://127.0.0.1/'),
  https: () => https.get('https://127.0.0.1/'),
  http2: () => http2.connect('https://127.0.0.1/'),
  udp: () => dgram.createSocket('udp4'),
  dns: () => dns.lookup('vendor.example', () => {}),
  dnsPromise: () => dns.promises.resolve4('vendor.example'),
  fetch: () => fetch('http://127.0.0.1/'),
  childProcess: () => childProcess.execSync('id'),
  thread: () => new Worker('1', { eval: true }),
  vm: () => vm.runInThisContext('1'),
  exit: () => process.exit(1),
  writeFile: () => fs.writeFileSync(`${packagesFolder}/canary`, ''),
  openToWrite: () => fs.openSync(`${packagesFolder}/canary`, 'w'),
  codeCache: () => enableCompileCache('/tmp/canary'),
  readOutside: () => fs.readFileSync('/etc/hostname'),
  readPromise: () => fs.promises.readFile('/etc/hostname'),
  readInside: () => fs.readFileSync(`${packagesFolder}/xml-js/package.json`),
  environment: () => {
    throw new Error(`${JSON.stringify(process.env)} ${JSON.stringify(process.argv.slice(2))}`)
  },
  throwText: () => {
    throw 'just text'
  },
  rejectLater: () => void Promise.reject(new Error('nobody waits for this')),
  loop: () => {
    for (;;);
  },
  memory: () => {
    const kept: number[][] = []
    for (;;) kept.push(new Array(100_000).fill(kept.length))
  },
  send,
  sendAgain: async (code) => {
    await send(code)
      .catch(() => send(code))
      .catch(() => http2.connect('https://again.example/'))
  },
}

function send(code: DefinitionRun) {
  return code.exchange({
    method: 'POST',
    url: 'https://vendor.example/in',
    headers: {},
    body: '',
    bodyIsBase64: false,
    timeoutMs: 1_000,
    secrets: [],
  })
}

serve(() => ({
  async run({ mappings }: GuestRun, code: DefinitionRun): Promise<MappingEnd[]> {
    const [{ index, action }] = mappings as [GuestRun['mappings'][number]]
    try {
      await ACTIONS[action]!(code)
      return [{ mapping: index, requests: [], thrown: undefined }]
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      return [{ mapping: index, requests: [], thrown: { kind: 'code', text } }]
    }
  },
}))
