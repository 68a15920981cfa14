import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import vm from 'node:vm'
import { type Classes, jvmArguments } from './toolchain.ts'

const BUNDLE = path.join(import.meta.dirname, '../../sdks/cordova/www/service-client.js')

interface Call {
  readonly success: (value: unknown) => void
  readonly error: (fault: unknown) => void
}

type Client = Record<string, (...given: unknown[]) => Promise<Record<string, unknown>>>

/** A Cordova app on Android: the bundled page in a context of its own, the Java of the plugin in a JVM of its own. */
export class Phone implements AsyncDisposable {
  readonly ServiceClient: Client
  private readonly native: ChildProcess
  private readonly calls: Call[] = []

  /** @param folder where the files of the SDK outlive this process */
  static async start(classes: Classes, folder: string): Promise<Phone> {
    const native = spawn('java', jvmArguments(classes, ['PhoneProcess'], { folder }), {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface(native.stdout!)
    const phone = new Phone(native)
    await new Promise<void>((resolve, reject) => {
      native.once('exit', () => reject(new Error('the native part ended before it was ready')))
      lines.on('line', (line) => {
        if (line === 'READY') resolve()
        if (line.startsWith('ANSWER ')) phone.answered(JSON.parse(line.slice('ANSWER '.length)))
        if (line.startsWith('RESULT\tfailed')) reject(new Error(line))
      })
    })
    return phone
  }

  private constructor(native: ChildProcess) {
    this.native = native
    const cordova = { platformId: 'android', exec: this.exec.bind(this) }
    const document = { addEventListener: (name: string, ready: () => void) => name === 'deviceready' && ready() }
    const navigator = { language: 'de-DE', userAgent: 'Robolectric' }
    const module: { exports: unknown } = { exports: {} }
    const page = { module, cordova, document, navigator, crypto, console, performance, setTimeout, clearTimeout }
    vm.runInNewContext(readFileSync(BUNDLE, 'utf8'), page)
    this.ServiceClient = module.exports as Client
  }

  /** To the background. */
  leave(): void {
    this.native.stdin!.write('leave\n')
  }

  /** The process of the app ends; its files stay. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.native.once('exit', resolve))
    this.native.stdin!.end()
    await ended
  }

  private exec(
    success: Call['success'],
    error: Call['error'],
    _service: string,
    action: string,
    args: unknown[],
  ): void {
    const id = String(this.calls.push({ success, error }) - 1)
    this.native.stdin!.write(`${JSON.stringify({ id, action, args })}\n`)
  }

  private answered({ id, ok, value }: { id: number; ok: boolean; value: unknown }): void {
    const { success, error } = this.calls[id]!
    if (ok) success(value)
    else error(value)
  }
}
