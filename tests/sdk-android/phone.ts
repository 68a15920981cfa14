import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Client, openBundledPage } from '../sdk/bundled-page.ts'
import { type Classes, jvmArguments } from './toolchain.ts'

interface Call {
  readonly success: (value: unknown) => void
  readonly error: (fault: unknown) => void
}

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
    this.ServiceClient = openBundledPage('android', 'Robolectric', (success, error, _service, action, args) => {
      const id = String(this.calls.push({ success, error }) - 1)
      native.stdin!.write(`${JSON.stringify({ id, action, args })}\n`)
    })
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

  private answered({ id, ok, value }: { id: number; ok: boolean; value: unknown }): void {
    const { success, error } = this.calls[id]!
    if (ok) success(value)
    else error(value)
  }
}
