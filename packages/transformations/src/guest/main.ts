import { FrameReader, frame } from '../frames.ts'
import type { ChildOptions, FromChild, ToChild } from '../messages.ts'
import { ChildProgram } from './child-program.ts'

/*
 * The child process: no file, no network, no environment and no child of its own (Node's permission model); it talks
 * to the server alone, and ends with it.
 */
const options = JSON.parse(process.argv[2]!) as ChildOptions
const send = (message: FromChild, texts: readonly string[] = []) => void process.stdout.write(frame(message, texts))
const program = new ChildProgram(options, send)
// The server's own frames have no bound but that of a number.
const frames = new FrameReader(2 ** 32)
process.stdin.on('data', (chunk: Buffer) => {
  for (const [message, ...texts] of frames.take(chunk)) program.take(JSON.parse(message!) as ToChild, texts)
})
process.stdin.on('end', () => process.exit())
// Nobody is left to talk to.
process.stdout.on('error', () => process.exit())
send({ kind: 'ready' })
