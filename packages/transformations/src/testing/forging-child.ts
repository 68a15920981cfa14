import { FrameReader, frame } from '../frames.ts'
import { ChildProgram } from '../guest/child-program.ts'
import type { ChildOptions, FromChild, RunMessage, ToChild } from '../messages.ts'
import { FORGERIES } from './forgeries.ts'

/*
 * For tests and chaos programs: a child that is ours until it is given an event with `"forge": "<name>"` somewhere in
 * it. Then it is one that somebody has taken over from inside a sandbox, and says what FORGERIES has under that name.
 */
const options = JSON.parse(process.argv[2]!) as ChildOptions
const send = (message: FromChild, texts: readonly string[] = []) => void process.stdout.write(frame(message, texts))
const program = new ChildProgram(options, send)
const frames = new FrameReader(2 ** 32)
process.stdin.on('data', (chunk: Buffer) => {
  for (const [json, ...texts] of frames.take(chunk)) {
    const message = JSON.parse(json!) as ToChild
    const name = message.kind === 'run' ? /"forge":"([^"]+)"/.exec(texts[0]!)?.[1] : undefined
    if (name === undefined) program.take(message, texts)
    else FORGERIES[name]!((message as RunMessage).count)
  }
})
process.stdin.on('end', () => process.exit())
process.stdout.on('error', () => {})
send({ kind: 'ready' })
