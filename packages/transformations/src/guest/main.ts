import type { ChildOptions, FromChild, ToChild } from '../messages.ts'
import { ChildProgram } from './child-program.ts'

/*
 * The child process: no file, no network, no environment and no child of its own (Node's permission model); it talks
 * to the server alone, and ends with it.
 */
const options = JSON.parse(process.argv[2]!) as ChildOptions
const send = (message: FromChild) => void process.send!(message)
const program = new ChildProgram(options, send)
process.on('message', (message: ToChild) => program.take(message))
process.on('disconnect', () => process.exit())
send({ kind: 'ready' })
